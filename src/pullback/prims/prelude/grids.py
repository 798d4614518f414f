"""Arrays made from a rule for their places: diagonals, triangles, numbers at even distances."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["FUNCTIONS"]


def linspace(start: Any, stop: Any, endpoint: bool, out: Any) -> Any:
    """The rows from start to stop; the step, or nan where there is none."""
    n = len(out)
    parts = n - 1 if endpoint else n
    if parts <= 0:
        out[...] = start
        return (stop - start) * np.nan
    step = (stop - start) / parts
    for k in range(n):
        out[k] = k * step + start
    if endpoint:
        out[n - 1] = stop
    return step


def geomspace_sign(start: Any, stop: Any) -> Any:
    if start == 0 or stop == 0:
        raise ValueError("Geometric sequence cannot include zero")
    return np.float64(-1.0) if start < 0 and stop < 0 else np.float64(1.0)


def geomspace(exponents: Any, sign: Any, start: Any, stop: Any, endpoint: bool) -> Any:
    out = sign * np.power(10.0, exponents)
    n = len(out)
    if n > 0:
        out[0] = start
    if endpoint and n > 1:
        out[n - 1] = stop
    return out


def set_diagonal(out: Any, k: Any) -> Any:
    low = k if k > 0 else 0
    first = -k if k < 0 else 0
    for i in range(min(out.shape[0] - first, out.shape[1] - low)):
        out[first + i, low + i] = 1
    return out


def put_diagonal(out: Any, values: Any, k: Any) -> Any:
    low = k if k > 0 else 0
    first = -k if k < 0 else 0
    for i in range(len(values)):
        out[first + i, low + i] = values[i]
    return out


def set_triangle(out: Any, k: Any) -> Any:
    """Ones on the diagonal k and below."""
    for i in range(len(out)):
        out[i, : max(i + k + 1, 0)] = 1
    return out


def fill_diagonal(a: Any, values: Any, wrap: bool) -> None:
    """The values one after the other, again from the first; wrap: of a tall matrix, again below it after a free row."""
    rows, columns = a.shape
    end = rows * columns if wrap else min(rows, columns) * columns
    j = 0
    for place in range(0, end, columns + 1):
        a[place // columns, place % columns] = values[j % len(values)]
        j += 1


def fill_diagonals(a: Any, values: Any) -> None:
    """Of an array of more axes, all of one size."""
    for i in range(len(a)):
        put_at_all(a[i], i, values[i % len(values)])


def put_at_all(a: Any, i: int, value: Any) -> None:
    if a.ndim == 1:
        a[i] = value
    else:
        put_at_all(a[i], i, value)


FUNCTIONS: dict[str, Any] = {
    f"pullback.{f.__name__}": f
    for f in (
        linspace, geomspace_sign, geomspace, set_diagonal, put_diagonal, set_triangle, fill_diagonal, fill_diagonals,
    )
}  # fmt: skip
