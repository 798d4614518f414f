"""Powers of matrices, and equations of tensors: numpy.linalg.matrix_power, tensorinv, tensorsolve.

matrix_power(a, 5)      a @ (a @ a) @ (a @ a), by squares
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.linalg import LinAlgError

from pullback.prims.prelude.factors import identity_like
from pullback.prims.prelude.linalg import inv, over, require_square, solve_one

__all__ = ["FUNCTIONS"]


def matrix_power(a: Any, n: int) -> Any:
    """For an n of which only the run knows the sign."""
    require_square(a)
    if n < 0:
        return power(np.linalg.inv(a), -n)
    if n == 1:
        return a
    return power(a, n)


def first_power(a: Any, n: int) -> Any:
    """The matrix itself."""
    require_square(a)
    return a


def negative_power(a: Any, n: int) -> Any:
    require_square(a)
    return power(np.linalg.inv(a), -n)


def positive_power(a: Any, n: int) -> Any:
    require_square(a)
    return power(a, n)


def power(a: Any, n: int) -> Any:
    """Squares, from the lowest bit of n on."""
    square = a.copy()
    if n == 0:
        return over(identity_like, square, square) if a.ndim > 2 else identity_like(a)
    while n % 2 == 0:
        square = square @ square
        n = n // 2
    result = square.copy()
    n = n // 2
    while n > 0:
        square = square @ square
        if n % 2 == 1:
            result = result @ square
        n = n // 2
    return result


# --------------------------------------------------------------------------------------------------------- tensors


def count(sizes: Any) -> Any:
    total = 1
    for size in sizes:
        total = total * size
    return total


def tensorinv(a: Any, ind: int = 2) -> Any:
    if ind <= 0:
        raise ValueError("Invalid ind argument.")
    before, after = a.shape[:ind], a.shape[ind:]
    return np.reshape(inv(np.reshape(a, (count(before), -1))), (*after, *before))


def tensorsolve(a: Any, b: Any, axes: Any = None) -> Any:
    if axes is not None:
        a = np.transpose(a, tuple(i for i in range(a.ndim) if i not in axes) + tuple(axes))
    inside = a.shape[b.ndim :]
    total = count(inside)
    if a.size != total**2:
        raise LinAlgError(
            "Input arrays must satisfy the requirement             prod(a.shape[b.ndim:]) == prod(a.shape[:b.ndim])"
        )
    return np.reshape(solve_one(np.reshape(a, (total, total)), b.ravel()), inside)


FUNCTIONS: dict[str, Any] = {
    "numpy.linalg.tensorinv": tensorinv, "numpy.linalg.tensorsolve": tensorsolve,
    **{f"pullback.{f.__name__}": f for f in (matrix_power, first_power, negative_power, positive_power)},
}  # fmt: skip
