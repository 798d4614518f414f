"""LU factors and the systems they solve: by loops for small matrices, where calls of LAPACK take longer; else by those.

    lu, pivots, info = lu_factors(a.T)        as lapack("getrf", a.T): columns as rows, pivots from 1
    x = lu_solution(lu, pivots, b, False)     as lapack("getrs", lu, pivots, b, transposed=False), b a right side a row

Neither has a derivative.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pullback.prims.prelude.intrinsics import lapack, outlined, stop

__all__ = ["lu_factors", "lu_solution"]

SMALL, FEW = 8, 32  # rows of a matrix, elements of right sides


def is_real(a: Any) -> bool:
    return bool(a.dtype == np.float64 or a.dtype == np.float32)


def lu_factors(columns: Any) -> Any:
    if is_real(columns) and columns.shape[0] <= SMALL and columns.shape[1] == columns.shape[0]:
        lu, pivots = stop(columns).copy(), np.empty(len(columns), np.int32)
        return lu, pivots, eliminated(lu, pivots)
    return lapack("getrf", columns)


@outlined
def eliminated(lu: Any, pivots: Any) -> int:
    """Gauss' elimination in place, the largest of a column as its pivot; where the first pivot is 0, counted from 1."""
    n, info = len(lu), 0
    for k in range(n):
        largest, place = abs(lu[k, k]), k
        for i in range(k + 1, n):
            if abs(lu[k, i]) > largest:
                largest, place = abs(lu[k, i]), i
        pivots[k] = place + 1
        if lu[k, place] == 0.0:
            info = k + 1 if info == 0 else info
            continue
        if place != k:
            for c in range(n):
                lu[c, k], lu[c, place] = lu[c, place], lu[c, k]
        for i in range(k + 1, n):
            lu[k, i] = lu[k, i] / lu[k, k]
        for c in range(k + 1, n):
            factor = lu[c, k]
            for i in range(k + 1, n):
                lu[c, i] -= lu[k, i] * factor
    return info


def lu_solution(lu: Any, pivots: Any, b: Any, transposed: bool) -> Any:
    if is_real(lu) and len(lu) <= SMALL and len(b) * len(lu) <= FEW:
        x = stop(b).copy()
        if transposed:
            substitute_transposed(lu, pivots, x)
        else:
            substitute(lu, pivots, x)
        return x
    return lapack("getrs", lu, pivots, b, transposed=transposed)


@outlined
def substitute(lu: Any, pivots: Any, x: Any) -> None:
    n = len(lu)
    for r in range(len(x)):
        for k in range(n):
            place = pivots[k] - 1
            x[r, k], x[r, place] = x[r, place], x[r, k]
        for k in range(n):
            for i in range(k + 1, n):
                x[r, i] -= lu[k, i] * x[r, k]
        for back in range(n):
            k = n - 1 - back
            x[r, k] = x[r, k] / lu[k, k]
            for i in range(k):
                x[r, i] -= lu[k, i] * x[r, k]


@outlined
def substitute_transposed(lu: Any, pivots: Any, x: Any) -> None:
    n = len(lu)
    for r in range(len(x)):
        for k in range(n):
            for i in range(k):
                x[r, k] -= lu[k, i] * x[r, i]
            x[r, k] = x[r, k] / lu[k, k]
        for back in range(n):
            k = n - 1 - back
            for i in range(k + 1, n):
                x[r, k] -= lu[k, i] * x[r, i]
        for back in range(n):
            k = n - 1 - back
            place = pivots[k] - 1
            x[r, k], x[r, place] = x[r, place], x[r, k]
