"""Series of orthogonal polynomials, as numpy.polynomial evaluates them, and Gauss-Legendre quadrature.

    legval(x, c)      c[0] P0(x) + c[1] P1(x) + ..., by Clenshaw's recurrence from the highest term down
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

__all__ = ["FUNCTIONS"]


def coefficients(c: Any) -> Any:
    """The coefficients, lowest first, as floats, at least two of them."""
    given = np.atleast_1d(np.asarray(c)) + 0.0
    if given.ndim != 1:
        raise ValueError("series of several columns of coefficients are not known here: write a loop over the columns")
    if len(given) == 0:
        raise IndexError("index -1 is out of bounds for axis 0 with size 0")
    return np.append(given, np.zeros_like(given)) if len(given) == 1 else given


def chebval(x: Any, c: Any, tensor: Any = True) -> Any:
    t, known = np.asarray(x), coefficients(c)
    n, still = len(known), np.zeros_like(t) + np.zeros_like(known[0])
    low, high = known[n - 2] + still, known[n - 1] + still
    for k in range(n - 3, -1, -1):
        low, high = known[k] - high, low + high * (2 * t)
    return low + high * t


def legval(x: Any, c: Any, tensor: Any = True) -> Any:
    t, known = np.asarray(x), coefficients(c)
    n, still = len(known), np.zeros_like(t) + np.zeros_like(known[0])
    low, high = known[n - 2] + still, known[n - 1] + still
    for k in range(n - 3, -1, -1):
        low, high = known[k] - high * ((k + 1) / (k + 2)), low + high * t * ((2 * k + 3) / (k + 2))
    return low + high * t


def hermval(x: Any, c: Any, tensor: Any = True) -> Any:
    t, known = np.asarray(x), coefficients(c)
    n, still = len(known), np.zeros_like(t) + np.zeros_like(known[0])
    low, high = known[n - 2] + still, known[n - 1] + still
    for k in range(n - 3, -1, -1):
        low, high = known[k] - high * (2 * (k + 1)), low + high * (2 * t)
    return low + high * (2 * t)


def hermeval(x: Any, c: Any, tensor: Any = True) -> Any:
    t, known = np.asarray(x), coefficients(c)
    n, still = len(known), np.zeros_like(t) + np.zeros_like(known[0])
    low, high = known[n - 2] + still, known[n - 1] + still
    for k in range(n - 3, -1, -1):
        low, high = known[k] - high * (k + 1), low + high * t
    return low + high * t


def lagval(x: Any, c: Any, tensor: Any = True) -> Any:
    t, known = np.asarray(x), coefficients(c)
    n, still = len(known), np.zeros_like(t) + np.zeros_like(known[0])
    low, high = known[n - 2] + still, known[n - 1] + still
    for k in range(n - 3, -1, -1):
        low, high = known[k] - high * (k + 1) / (k + 2), low + high * ((2 * k + 3) - t) / (k + 2)
    return low + high * (1 - t)


def leggauss(deg: int) -> Any:
    """Points and weights of Gauss-Legendre quadrature: Newton's method on each root."""
    if deg <= 0:
        raise ValueError("deg must be positive")
    points, weights = np.zeros(deg), np.zeros(deg)
    for i in range((deg + 1) // 2):
        z = math.cos(math.pi * (i + 0.75) / (deg + 0.5))
        slope = 1.0
        for _ in range(12):
            p, before = 1.0, 0.0
            for k in range(deg):
                p, before = ((2 * k + 1) * z * p - k * before) / (k + 1), p
            slope = deg * (z * p - before) / (z * z - 1.0)
            z = z - p / slope
        if 2 * i + 1 == deg:
            z = 0.0
        points[i], points[deg - 1 - i] = -z, z
        w = 2.0 / ((1.0 - z * z) * slope * slope)
        weights[i], weights[deg - 1 - i] = w, w
    return points, weights


_MODULES = {
    "chebyshev": (chebval,), "legendre": (legval, leggauss), "hermite": (hermval,), "hermite_e": (hermeval,),
    "laguerre": (lagval,),
}  # fmt: skip
FUNCTIONS: dict[str, Any] = {
    f"numpy.polynomial.{module}.{f.__name__}": f for module, functions in _MODULES.items() for f in functions
}
