"""Scalar functions that arrays are mapped with, and comparisons of whole arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from pullback.prims.prelude.intrinsics import attach, stop

__all__ = ["FUNCTIONS"]

LN2 = 0.6931471805599453
PER_LN2 = 1.4426950408889634


def map_one(function: Any, a: Any, out: Any) -> None:
    for k in range(len(out)):
        out[k] = function(a[k])


def map_two(function: Any, a: Any, b: Any, out: Any) -> None:
    for k in range(len(out)):
        out[k] = function(a[k], b[k])


def map_one_to_two(function: Any, a: Any, first: Any, second: Any) -> None:
    for k in range(len(first)):
        first[k], second[k] = function(a[k])


def vectorize(function: Any, rows: Any, out: Any) -> None:
    for k in range(len(out)):
        out[k] = function(*[row[k] for row in rows])


def vectorize_several(function: Any, rows: Any, outs: Any) -> None:
    for k in range(len(outs[0])):
        results = function(*[row[k] for row in rows])
        for out, result in zip(outs, results, strict=True):
            out[k] = result


def apply_rows(function: Any, table: Any, out: Any, more: Any) -> None:
    """The function of every row but the first, of which the result stands there already."""
    for k in range(1, len(out)):
        out[k] = function(table[k], *more)


def gcd_of(a: Any, b: Any) -> Any:
    a = abs(a)
    b = abs(b)
    while b != 0:
        a, b = b, a % b
    return a


def lcm_of(a: Any, b: Any) -> Any:
    d = gcd_of(a, b)
    return abs(a // d * b) if d != 0 else d


def ldexp_of(x: Any, n: Any) -> Any:
    """x * 2 ** n with one rounding at most: the factors before the last are exact."""
    k = max(min(int(n), 2200), -2200)
    y = x
    while k > 100:
        y = y * 1.2676506002282294e30
        k -= 100
    while k < -100 and abs(y) > 1.0:
        y = y * 7.888609052210118e-31
        k += 100
    while k < -20 and abs(y) >= 1e-30:
        y = y * 9.5367431640625e-07
        k += 20
    factor = 1.0
    for _ in range(abs(k)):
        factor = factor * 2.0 if k > 0 else factor * 0.5
    return y * factor


def modf_of(x: Any) -> Any:
    """The fraction and the whole part, both with the sign of x; the derivative of the fraction is 1 everywhere."""
    whole = np.trunc(stop(x))
    fraction = np.where(np.isinf(stop(x)), 0.0, stop(x) - whole)
    return attach(np.copysign(fraction, stop(x)), x, 1.0), whole


def frexp_of(x: Any) -> Any:
    m = x
    e = 0
    if m == 0.0 or not np.isfinite(m):
        return m, np.int32(0)
    while abs(m) >= 4294967296.0:
        m = m * 2.3283064365386963e-10
        e += 32
    while abs(m) < 2.3283064365386963e-10:
        m = m * 4294967296.0
        e -= 32
    while abs(m) >= 1.0:
        m = m * 0.5
        e += 1
    while abs(m) < 0.5:
        m = m * 2.0
        e -= 1
    return m, np.int32(e)


def logaddexp2(x: Any, y: Any) -> Any:
    return np.logaddexp(x * LN2, y * LN2) * PER_LN2


def round_to(x: Any, decimals: int) -> Any:
    scale = 1.0
    for _ in range(abs(decimals)):
        scale = scale * 10.0
    return np.rint(x * scale) / scale if decimals >= 0 else np.rint(x / scale) * scale


def round_ints(x: Any, decimals: int) -> Any:
    return round_to(x, decimals) if decimals < 0 else x


# -------------------------------------------------------------------------------------------------------- closeness


def isclose(a: Any, b: Any, rtol: Any, atol: Any, equal_nan: bool) -> Any:
    b = b * 1.0
    near = np.abs(a - b) <= atol + rtol * np.abs(b)
    found = (near & np.isfinite(np.abs(b))) | (a == b)
    if equal_nan:
        found = found | (np.isnan(np.abs(a)) & np.isnan(np.abs(b)))
    return found


def allclose(a: Any, b: Any, rtol: Any, atol: Any, equal_nan: bool) -> bool:
    return bool(np.all(isclose(a, b, rtol, atol, equal_nan)))


def all_equal(a: Any, b: Any) -> bool:
    return bool(np.all(a == b))


def array_equal(a: Any, b: Any, equal_nan: bool) -> bool:
    if a.shape != b.shape:
        return False
    if equal_nan:
        return bool(np.all((a == b) | (np.isnan(np.abs(a)) & np.isnan(np.abs(b)))))
    return bool(np.all(a == b))


def no_context() -> Any:
    yield None


FUNCTIONS: dict[str, Any] = {
    f"pullback.{f.__name__}": f
    for f in (
        vectorize, vectorize_several, apply_rows, map_one, map_two, map_one_to_two, gcd_of, lcm_of, ldexp_of, modf_of,
        frexp_of, round_to, round_ints, isclose, allclose, all_equal, array_equal, no_context,
    )
} | {"numpy.logaddexp2": logaddexp2}  # fmt: skip
