"""scipy.linalg: systems whose matrix is banded, or constant along its diagonals.

    solve_banded((1, 1), ab, b)      elimination within the band, with pivots (Golub and Van Loan, section 4.3)
    solveh_banded(ab, b)             Cholesky's factor has the band of the matrix
    solve_toeplitz((c, r), b)        Levinson's recursion, as SciPy has it

They are differentiated as they are written.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.linalg import LinAlgError

from pullback.prims.prelude.intrinsics import zeros_of

__all__ = ["FUNCTIONS"]


def as_columns(b: Any) -> Any:
    """A new table of the right sides."""
    return b.reshape(-1, 1).copy() if b.ndim == 1 else b.copy()


def solve_banded(lower: int, upper: int, ab: Any, b: Any) -> Any:
    n = ab.shape[1]
    if n != b.shape[0]:
        raise ValueError("shapes of ab and b are not compatible.")
    if lower + upper + 1 != ab.shape[0]:
        raise ValueError(
            "invalid values for the number of lower and upper diagonals: "
            f"l+u+1 ({lower + upper + 1}) does not equal ab.shape[0] ({ab.shape[0]})"
        )
    x, width = as_columns(b), lower + upper + 1
    rows = zeros_of((n, lower + width), ab)  # row i from its column i - lower on; pivots widen it
    for i in range(n):
        for j in range(max(0, i - lower), min(n, i + upper + 1)):
            rows[i, j - i + lower] = ab[upper + i - j, j]
    for k in range(n):
        exchange(rows, x, k, pivot_of(rows, k, lower), lower, width)
        if rows[k, lower] == 0:
            raise LinAlgError("singular matrix")
        for i in range(k + 1, min(n, k + lower + 1)):
            factor = rows[i, k - i + lower] / rows[k, lower]
            for j in range(k + 1, min(n, k + width)):
                rows[i, j - i + lower] -= factor * rows[k, j - k + lower]
            for c in range(x.shape[1]):
                x[i, c] -= factor * x[k, c]
    for k in range(n - 1, -1, -1):
        for c in range(x.shape[1]):
            total = x[k, c]
            for j in range(k + 1, min(n, k + width)):
                total -= rows[k, j - k + lower] * x[j, c]
            x[k, c] = total / rows[k, lower]
    return x[:, 0] if b.ndim == 1 else x


def pivot_of(rows: Any, k: int, lower: int) -> int:
    """The row below k, or k, whose element in column k is largest."""
    best = k
    for i in range(k + 1, min(len(rows), k + lower + 1)):
        if abs(rows[i, k - i + lower]) > abs(rows[best, k - best + lower]):
            best = i
    return best


def exchange(rows: Any, x: Any, k: int, i: int, lower: int, width: int) -> None:
    """Rows k and i from column k on."""
    if i == k:
        return
    for j in range(k, min(len(rows), k + width)):
        kept = rows[k, j - k + lower]
        rows[k, j - k + lower] = rows[i, j - i + lower]
        rows[i, j - i + lower] = kept
    for c in range(x.shape[1]):
        kept = x[k, c]
        x[k, c] = x[i, c]
        x[i, c] = kept


def solveh_banded(ab: Any, b: Any, lower: bool = False) -> Any:
    n, width = ab.shape[1], ab.shape[0] - 1
    if n != b.shape[0]:
        raise ValueError("shapes of ab and b are not compatible.")
    x = as_columns(b)
    factor = zeros_of((n, width + 1), ab)  # row i of the triangle from its column i - width on
    for j in range(n):
        square = ab[0, j].real if lower else ab[width, j].real
        for k in range(max(0, j - width), j):
            square -= factor[j, k - j + width].real ** 2 + factor[j, k - j + width].imag ** 2
        if not square > 0:
            raise LinAlgError(f"{j + 1}th leading minor not positive definite")
        root = np.sqrt(square)
        factor[j, width] = root
        for i in range(j + 1, min(n, j + width + 1)):
            total = ab[i - j, j] if lower else np.conj(ab[width + j - i, i])
            for k in range(max(0, i - width), j):
                total -= factor[i, k - i + width] * np.conj(factor[j, k - j + width])
            factor[i, j - i + width] = total / root
    for c in range(x.shape[1]):
        for i in range(n):
            total = x[i, c]
            for k in range(max(0, i - width), i):
                total -= factor[i, k - i + width] * x[k, c]
            x[i, c] = total / factor[i, width].real
        for i in range(n - 1, -1, -1):
            total = x[i, c]
            for k in range(i + 1, min(n, i + width + 1)):
                total -= np.conj(factor[k, i - k + width]) * x[k, c]
            x[i, c] = total / factor[i, width].real
    return x[:, 0] if b.ndim == 1 else x


def solve_toeplitz(c: Any, r: Any, b: Any) -> Any:
    if b.shape[0] != len(c) or len(r) != len(c):
        raise ValueError("Incompatible dimensions.")
    values = np.concatenate((r[:0:-1], c))
    if b.ndim == 1:
        return levinson(values, b)
    columns = np.empty_like(b)
    for k in range(b.shape[1]):
        columns[:, k] = levinson(values, b[:, k])
    return columns


def levinson(a: Any, b: Any) -> Any:
    """The matrix has a[n - 1 + i - j] at [i, j]."""
    n = len(b)
    if n > 0 and a[n - 1] == 0:
        raise LinAlgError("Singular principal minor")
    x, g, h = np.zeros_like(b), np.zeros_like(b), np.zeros_like(b)
    if n > 0:
        x[0] = b[0] / a[n - 1]
    if n > 1:
        g[0], h[0] = a[n - 2] / a[n - 1], a[n] / a[n - 1]
    for m in range(1, n):
        above, below = -b[m], -a[n - 1]
        for j in range(m):
            above += a[n + m - j - 1] * x[j]
            below += a[n + m - j - 1] * g[m - j - 1]
        if below == 0:
            raise LinAlgError("Singular principal minor")
        x[m] = above / below
        for j in range(m):
            x[j] -= x[m] * g[m - j - 1]
        if m < n - 1:
            extend(a, g, h, m, n, below)
    return x


def extend(a: Any, g: Any, h: Any, m: int, n: int, below: Any) -> None:
    """Both auxiliary vectors by an element."""
    first, second, divisor = -a[n - m - 2], -a[n + m], -a[n - 1]
    for j in range(m):
        first += a[n + j - m - 1] * g[j]
        second += a[n + m - j - 1] * h[j]
        divisor += a[n + j - m - 1] * h[m - j - 1]
    if divisor == 0:
        raise LinAlgError("Singular principal minor")
    g[m], h[m] = first / divisor, second / below
    for j in range((m + 1) // 2):
        k = m - 1 - j
        gj, gk, hj, hk = g[j], g[k], h[j], h[k]
        g[j], g[k] = gj - g[m] * hk, gk - g[m] * hj
        h[j], h[k] = hj - h[m] * gk, hk - h[m] * gj


FUNCTIONS: dict[str, Any] = {
    "pullback.solve_banded": solve_banded, "scipy.linalg.solveh_banded": solveh_banded,
    "pullback.solve_toeplitz": solve_toeplitz,
}  # fmt: skip
