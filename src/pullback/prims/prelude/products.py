"""np.convolve, np.correlate, np.cross: sums of products that are no matrix product.

np.convolve(a, v)     for each element of the shorter one, its multiple of the longer one is added to a slice
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["FUNCTIONS"]


def convolve(a: Any, v: Any, mode: str = "full") -> Any:
    x, y = np.atleast_1d(a), np.atleast_1d(v)
    if len(x) == 0:
        raise ValueError("a cannot be empty")
    if len(y) == 0:
        raise ValueError("v cannot be empty")
    if x.ndim > 1 or y.ndim > 1:
        raise ValueError("object too deep for desired array")
    if len(y) > len(x):
        return convolved(y, x, mode)
    return convolved(x, y, mode)


def convolved(a: Any, v: Any, mode: Any) -> Any:
    """Of a row that is at least as long as the other."""
    n, m = len(a), len(v)
    if mode == "valid" or mode == "v":
        short = np.zeros(n - m + 1, (a[:1] * v[:1]).dtype)
        for j in range(m):
            short += a[m - 1 - j : n - j] * v[j]
        return short
    whole = np.zeros(n + m - 1, (a[:1] * v[:1]).dtype)
    for j in range(m):
        whole[j : j + n] += a * v[j]
    if mode == "full" or mode == "f":
        return whole
    if mode == "same" or mode == "s":
        start = (m - 1) // 2
        return whole[start : start + n].copy()
    raise ValueError(f"mode must be one of 'valid', 'same', or 'full' (got '{mode}')")


def correlate(a: Any, v: Any, mode: str = "valid") -> Any:
    """Of real rows; the longer one stays, and with it the order of the result."""
    x, y = np.atleast_1d(a), np.atleast_1d(v)
    if len(x) == 0:
        raise ValueError("first array argument cannot be empty")
    if len(y) == 0:
        raise ValueError("second array argument cannot be empty")
    if x.ndim > 1 or y.ndim > 1:
        raise ValueError("object too deep for desired array")
    if len(y) > len(x):
        return convolved(y, x[::-1], mode)[::-1].copy()
    return convolved(x, y[::-1], mode)


def cross_last(a: Any, b: Any) -> Any:
    """Of vectors along the last axis; one of 2 elements beside one of 3 has a third that is 0."""
    if (a.shape[-1] != 2 and a.shape[-1] != 3) or (b.shape[-1] != 2 and b.shape[-1] != 3):
        raise ValueError("incompatible dimensions for cross product\n(dimension must be 2 or 3)")
    if a.shape[-1] == 2 and b.shape[-1] == 2:  # a number for each pair: another rank
        formula = "a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]"
        raise ValueError(f"np.cross of vectors of 2 elements is known for arrays of known sizes only: write {formula}")
    z = cross_plane(a, b)
    if a.shape[-1] == 2:
        return np.stack((a[..., 1] * b[..., 2], -(a[..., 0] * b[..., 2]), z), axis=-1)
    if b.shape[-1] == 2:
        return np.stack((-(a[..., 2] * b[..., 1]), a[..., 2] * b[..., 0], z), axis=-1)
    x = a[..., 1] * b[..., 2] - a[..., 2] * b[..., 1]
    y = a[..., 2] * b[..., 0] - a[..., 0] * b[..., 2]
    return np.stack((x, y, z), axis=-1)


def cross_plane(a: Any, b: Any) -> Any:
    """Of vectors of 2 elements: the third one of the product."""
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]


FUNCTIONS: dict[str, Any] = {
    "numpy.convolve": convolve, "pullback.correlate_real": correlate, "pullback.cross_last": cross_last,
    "pullback.cross_plane": cross_plane,
}  # fmt: skip
