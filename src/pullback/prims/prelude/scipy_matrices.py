"""scipy.linalg: NumPy's decompositions with SciPy's arguments, and matrices made of their entries.

    scipy.linalg.toeplitz(c, r)     the entry [i, j] is c[i - j] where that is not negative, else r[j - i]
    scipy.linalg.svd(a)             numpy.linalg.svd(a), as a plain tuple
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["FUNCTIONS"]


def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    if not compute_uv:
        return np.linalg.svd(a, full_matrices, False)
    u, s, vh = np.linalg.svd(a, full_matrices)
    return u, s, vh


def svdvals(a: Any) -> Any:
    return np.linalg.svd(a, False, False)


def qr(a: Any, mode: str = "full") -> Any:
    if mode == "full" or mode == "economic":
        q, r = np.linalg.qr(a, "complete" if mode == "full" else "reduced")
        return q, r
    if mode == "r":
        return (np.linalg.qr(a, "complete")[1],)
    raise ValueError("Mode argument should be one of ['full', 'r', 'economic', 'raw']")


def pinv(a: Any, rtol: Any = None) -> Any:
    return np.linalg.pinv(a, rtol=rtol)


def eigvalsh(a: Any, lower: bool = True) -> Any:
    return np.linalg.eigvalsh(a, "L" if lower else "U")


# -------------------------------------------------------------------------------------------- matrices of entries


def toeplitz(c: Any, r: Any = None) -> Any:
    column = np.asarray(c)
    row = np.conj(column) if r is None else np.asarray(r)
    entries = np.concatenate((column[::-1], row[1:]))
    return entries[column.size - 1 - np.arange(column.size)[:, None] + np.arange(row.size)]


def hankel(c: Any, r: Any = None) -> Any:
    column = np.asarray(c)
    row = np.zeros_like(column) if r is None else np.asarray(r)
    entries = np.concatenate((column, row[1:]))
    return entries[np.arange(column.size)[:, None] + np.arange(row.size)]


def circulant(c: Any) -> Any:
    column = np.asarray(c)
    place = np.arange(column.size)
    return column[(place[:, None] - place) % column.size]


def block_diag(*arrs: Any) -> Any:
    blocks = [np.atleast_2d(block) for block in arrs]
    widths = [block.shape[1] for block in blocks]
    rows = [
        np.hstack((
            np.zeros((block.shape[0], sum(widths[:k])), block.dtype), block,
            np.zeros((block.shape[0], sum(widths[k + 1 :])), block.dtype),
        ))
        for k, block in enumerate(blocks)
    ]  # fmt: skip
    return np.vstack(rows)


FUNCTIONS: dict[str, Any] = {
    f"scipy.linalg.{f.__name__}": f
    for f in (svd, svdvals, qr, pinv, eigvalsh, toeplitz, hankel, circulant, block_diag)
}  # fmt: skip
