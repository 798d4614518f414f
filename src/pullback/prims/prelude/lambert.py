"""scipy.special.lambertw: the branches of the inverse of w exp(w), by Halley's iteration as in SciPy.

Corless, Gonnet, Hare, Jeffrey and Knuth, "On the Lambert W function", 1996.  The derivative is exp(-w) / (1 + w).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pullback.prims.prelude.intrinsics import ruled

__all__ = ["FUNCTIONS"]

INVERSE_E = math.exp(-1.0)


def near_branch_point(z: Any) -> Any:
    p = np.sqrt(2.0 * (math.e * z + 1.0))
    return (-p / 3.0 + 1.0) * p - 1.0


def near_zero(z: Any) -> Any:
    above = (12.85106382978723404255 * z + 12.34042553191489361902) * z + 1.0
    below = (32.53191489361702127660 * z + 14.34042553191489361702) * z + 1.0
    return z * above / below


def far_away(z: Any, k: int) -> Any:
    w = np.log(z) + 2j * math.pi * k
    return w - np.log(w)


def first_guess(z: Any, k: int) -> Any:
    if k == 0:
        if abs(z + INVERSE_E) < 0.3:
            return near_branch_point(z)
        if -1.0 < z.real < 1.5 and abs(z.imag) < 1.0 and -2.5 * abs(z.imag) - 0.2 < z.real:
            return near_zero(z)
    elif k == -1 and abs(z + INVERSE_E) <= INVERSE_E and z.imag == 0.0 and z.real < 0.0:
        return np.complex128(np.log(-z.real))
    return far_away(z, k)


def halley_step(w: Any, z: Any) -> Any:
    """Arranged so that no exponential overflows."""
    if w.real >= 0:
        rest, slope = w - z * np.exp(-w), w + 1.0
    else:
        power = np.exp(w)
        rest, slope = w * power - z, w * power + power
    return w - rest / (slope - (w + 2.0) * rest / (2.0 * w + 2.0))


def _lambertw_jvp(k: int, tol: float, primals: Any, tangents: Any) -> Any:
    (z,), (dz,) = primals, tangents
    w = lambertw_one(k, tol, z)
    return w, dz * (np.exp(-w) / (1.0 + w))


@ruled(jvp=_lambertw_jvp, nondiff=(0, 1))
def lambertw_one(k: int, tol: float, z: Any) -> Any:
    if np.isnan(z.real) or np.isnan(z.imag):
        return z
    if z.real == math.inf:
        return z + 2j * math.pi * k
    if z.real == -math.inf:
        return -z + 1j * (2.0 * math.pi * k + math.pi)
    if z == 0:
        return z if k == 0 else np.complex128(complex(-math.inf, 0.0))
    if z == 1 and k == 0:
        return np.complex128(0.567143290409783872999968662210)
    w = first_guess(z, k)
    for _ in range(100):
        better = halley_step(w, z)
        if abs(better - w) <= tol * abs(better):
            return better
        w = better
    return np.complex128(complex(math.nan, math.nan))


def lambertw_all(z: Any, k: int, tol: float, out: Any) -> None:
    for i in range(len(z)):
        out[i] = lambertw_one(k, tol, z[i])


FUNCTIONS: dict[str, Any] = {"pullback.lambertw_all": lambertw_all}
