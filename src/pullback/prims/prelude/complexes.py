"""Products of complex numbers along lines, which are pairs of real ones here; real_if_close.

A table has the axes (before, line, after), as in `lines`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["FUNCTIONS"]


def complex_prod_lines(re: Any, im: Any, out_re: Any, out_im: Any) -> None:
    for i in range(re.shape[0]):
        for j in range(re.shape[2]):
            x, y = np.ones(1, re.dtype)[0], np.zeros(1, re.dtype)[0]
            for k in range(re.shape[1]):
                a, b = re[i, k, j], im[i, k, j]
                x, y = x * a - y * b, x * b + y * a
            out_re[i, j], out_im[i, j] = x, y


def complex_cumprod_lines(re: Any, im: Any, out_re: Any, out_im: Any) -> None:
    for i in range(re.shape[0]):
        for j in range(re.shape[2]):
            x, y = np.ones(1, re.dtype)[0], np.zeros(1, re.dtype)[0]
            for k in range(re.shape[1]):
                a, b = re[i, k, j], im[i, k, j]
                x, y = x * a - y * b, x * b + y * a
                out_re[i, k, j], out_im[i, k, j] = x, y


def real_if_close(a: Any, tol: Any = 100) -> Any:
    """The real parts, if the imaginary ones are as small as so many epsilons, or as a number below 1."""
    z = np.asarray(a)
    limit = np.finfo(np.real(z).dtype).eps * tol if tol > 1 else tol
    if np.all(np.abs(np.imag(z)) < limit):
        return np.real(z)
    return z


FUNCTIONS = {
    f"pullback.{function.__name__}": function
    for function in (complex_prod_lines, complex_cumprod_lines, real_if_close)
}  # fmt: skip
