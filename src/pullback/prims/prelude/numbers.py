"""Functions of `math` made of others, in the accepted Python."""

from __future__ import annotations

import math
from typing import Any

from pullback.prims.prelude.intrinsics import attach, stop

__all__ = ["FUNCTIONS"]


def degrees(x: Any) -> Any:
    return float(x) * (180.0 / math.pi)


def radians(x: Any) -> Any:
    return float(x) * (math.pi / 180.0)


def gcd2(a: int, b: int) -> int:
    a = abs(a)
    b = abs(b)
    while b != 0:
        a, b = b, a % b
    return a


def gcd(a: int = 0, b: int = 0, c: int = 0) -> int:
    return gcd2(gcd2(a, b), c)


def lcm2(a: int, b: int) -> int:
    if a == 0 or b == 0:
        return 0
    return abs(a // gcd2(a, b) * b)


def lcm(a: int = 1, b: int = 1, c: int = 1) -> int:
    return lcm2(lcm2(a, b), c)


def factorial(n: int) -> int:
    if n < 0:
        raise ValueError("factorial() not defined for negative values")
    result = 1
    for k in range(2, n + 1):
        result *= k
    return result


def comb(n: int, k: int) -> int:
    if n < 0:
        raise ValueError("n must be a non-negative integer")
    if k < 0:
        raise ValueError("k must be a non-negative integer")
    if k > n:
        return 0
    k = min(k, n - k)
    result = 1
    for i in range(k):
        factor = n - i
        # Divide first where it goes, so that no intermediate leaves 64 bits before the result does.
        divisor = i + 1
        common = gcd2(result, divisor)
        result = (result // common) * (factor // (divisor // common))
    return result


def perm_of(n: int, k: int) -> int:
    if n < 0:
        raise ValueError("n must be a non-negative integer")
    if k < 0:
        raise ValueError("k must be a non-negative integer")
    if k > n:
        return 0
    result = 1
    for i in range(k):
        result *= n - i
    return result


def perm(n: int, k: Any = None) -> int:
    if k is None:
        return factorial(n)
    return perm_of(n, k)


def isqrt(n: int) -> int:
    if n < 0:
        raise ValueError("isqrt() argument must be nonnegative")
    root = int(math.sqrt(float(n)))
    while root > 3037000499 or root * root > n:
        root -= 1
    while root < 3037000499 and (root + 1) * (root + 1) <= n:
        root += 1
    return root


def isclose(a: Any, b: Any, *, rel_tol: float = 1e-09, abs_tol: float = 0.0) -> Any:
    if rel_tol < 0.0 or abs_tol < 0.0:
        raise ValueError("tolerances must be non-negative")
    if a == b:
        return True
    if math.isinf(a) or math.isinf(b):
        return False
    difference = abs(b - a)
    return (difference <= abs(rel_tol * b) or difference <= abs(rel_tol * a)) or difference <= abs_tol


def dist(p: Any, q: Any) -> float:
    total = 0.0
    if len(p) != len(q):
        raise ValueError("both points must have the same number of dimensions")
    for a, b in zip(p, q, strict=True):
        total = math.hypot(total, float(a) - float(b))
    return total


def fsum(iterable: Any) -> float:
    """Compensated summation (Neumaier); exact but for pathological cancellation."""
    total = 0.0
    lost = 0.0
    for item in iterable:
        x = float(item)
        t = total + x
        if abs(total) >= abs(x):
            lost += (total - t) + x
        else:
            lost += (x - t) + total
        total = t
    return total + lost


def prod(iterable: Any, *, start: Any = 1) -> Any:
    result = start
    for item in iterable:
        result = result * item
    return result


def sumprod(p: Any, q: Any) -> Any:
    if len(p) != len(q):
        raise ValueError("Inputs are not the same length")
    total = 0
    for a, b in zip(p, q, strict=True):
        total = total + a * b
    return total


def modf(x: Any) -> tuple[float, float]:
    y = float(x)
    if math.isinf(y):
        return math.copysign(0.0, y), y
    whole = math.copysign(float(math.floor(abs(y))) if abs(y) < 4503599627370496.0 else abs(y), y)
    # The fraction has the sign of x even where it is 0; its derivative is 1 everywhere.
    return attach(math.copysign(abs(stop(y - whole)), y), y, 1.0), whole


def ldexp(x: Any, n: int) -> Any:
    y = float(x)
    if y == 0.0 or not math.isfinite(y):
        return y
    k = max(min(n, 2200), -2200)
    # Three exact steps keep the scale factors representable; only the last may round.
    while k > 1000:
        y = y * 1.0715086071862673e301
        k -= 1000
    while k < -900 and abs(y) > 1e-20:
        y = y * 1.1830521861667747e-271
        k += 900
    y = y * 2.0 ** float(k) if k >= -1022 else y * 2.2250738585072014e-308 * 2.0 ** float(k + 1022)
    if math.isinf(y):
        raise OverflowError("math range error")
    return y


def frexp(x: Any) -> tuple[float, int]:
    m = float(x)
    if m == 0.0 or not math.isfinite(m):
        return m, 0
    e = 0
    if abs(m) < 2.2250738585072014e-308:
        m = m * 18014398509481984.0
        e = -54
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
    return m, e


def ulp(x: Any) -> float:
    y = abs(float(x))
    if math.isnan(y) or math.isinf(y):
        return y
    up = math.nextafter(y, math.inf)
    if math.isinf(up):
        return y - math.nextafter(y, 0.0)
    return up - y


def bit_count(n: int, /) -> int:
    if n < -9223372036854775807:  # of this abs does not fit
        return 1
    rest = abs(n)
    found = 0
    while rest != 0:
        rest &= rest - 1
        found += 1
    return found


def bit_length(n: int, /) -> int:
    if n < -9223372036854775807:
        return 64
    rest = abs(n)
    found = 0
    while rest != 0:
        rest >>= 1
        found += 1
    return found


def conjugate(x: Any, /) -> Any:
    return +x


def is_integer(x: float, /) -> bool:
    return math.isfinite(x) and x % 1.0 == 0.0


METHODS: dict[str, Any] = {
    "int.bit_count": bit_count, "int.bit_length": bit_length, "int.conjugate": conjugate, "float.conjugate": conjugate,
    "float.is_integer": is_integer,
}  # fmt: skip

FUNCTIONS: dict[str, Any] = METHODS | {
    f"math.{f.__name__}": f
    for f in (degrees, radians, gcd, lcm, factorial, comb, perm, isqrt, isclose, dist, fsum, prod, sumprod, modf, ldexp,
              frexp, ulp)
}  # fmt: skip
