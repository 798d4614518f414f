"""Windows, sinc and unwrapped angles of NumPy in the accepted Python.

    hanning(5)      0.5 + 0.5 cos(pi n / 4) at n = -4, -2, 0, 2, 4
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pullback.prims.prelude.intrinsics import stop

__all__ = ["FUNCTIONS"]


def places(size: int) -> Any:
    """1 - size, 3 - size, ... size - 1"""
    return np.arange(1 - size, size, 2)


def cosines(size: int, a: float, b: float, c: float) -> Any:
    """a + b cos t + c cos 2t across the window; a window of one is 1."""
    if size < 1:
        return np.zeros(0)
    if size == 1:
        return np.ones(1)
    n = places(size)
    return a + b * np.cos(math.pi * n / (size - 1)) + c * np.cos(2.0 * math.pi * n / (size - 1))


def blackman(M: int) -> Any:  # noqa: N803 NumPy's name
    return cosines(M, 0.42, 0.5, 0.08)


def hamming(M: int) -> Any:  # noqa: N803 NumPy's name
    return cosines(M, 0.54, 0.46, 0.0)


def hanning(M: int) -> Any:  # noqa: N803 NumPy's name
    return cosines(M, 0.5, 0.5, 0.0)


def bartlett(M: int) -> Any:  # noqa: N803 NumPy's name
    if M < 1:
        return np.zeros(0)
    if M == 1:
        return np.ones(1)
    n = places(M)
    return np.where(n <= 0, 1 + n / (M - 1), 1 - n / (M - 1))


def kaiser(M: int, beta: Any) -> Any:  # noqa: N803 NumPy's name
    if M == 1:
        return np.ones(1)
    middle = (M - 1) / 2.0
    off = (np.arange(0.0, float(M)) - middle) / middle
    return np.i0(beta * np.sqrt(1 - off**2.0)) / np.i0(beta)


# The series of sin(y)/y in y*y, as far as it counts for |y| < 1/2.
SINC = (1.0, -1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800, 1.0 / 6227020800, -1.0 / 1307674368000)


def sinc(x: Any) -> Any:
    """sin(pi x) / (pi x); around 0 by its series, which has all derivatives there."""
    y = math.pi * x
    near = np.abs(y) < 0.5
    z = np.where(near, y, 0) ** 2
    series = z * 0.0 + SINC[7]
    for k in range(7):
        series = series * z + SINC[6 - k]
    away = np.where(near, 1, y)
    return np.where(near, series, np.sin(away) / away)


def unwrap(p: Any, discont: Any = None, axis: Any = -1, *, period: Any = 6.283185307179586) -> Any:
    """Jumps beyond half a period are made up for by whole periods, which do not depend on p."""
    x = np.moveaxis(np.asarray(p), axis, -1) * 1.0
    steps = stop(np.diff(x, axis=-1))
    low = period / 2
    inside = np.mod(steps + low, period) - low
    inside = np.where((inside == -low) & (steps > 0), low, inside)
    least = low if discont is None else discont if discont > low else low
    change = np.where(np.abs(steps) < least, 0, inside - steps)
    out = x.copy()
    out[..., 1:] += np.cumsum(change, axis=-1)
    return np.moveaxis(out, -1, axis)


FUNCTIONS: dict[str, Any] = {
    f"numpy.{f.__name__}": f for f in (blackman, hamming, hanning, bartlett, kaiser, sinc, unwrap)
}
