"""One whole number of each discrete distribution, drawn as NumPy draws it, from the bits of a generator.

    poisson(g, 3.5)      products of uniform numbers, for large means a rejection from a transformed one

Sources: D. E. Knuth, "Seminumerical algorithms" (1969); W. Hormann, "The transformed rejection method for generating
Poisson random variables" (1993); V. Kachitvichyanukul and B. W. Schmeiser, "Binomial random variate generation" (1988);
A. W. Kemp, "Efficient generation of logarithmically distributed pseudo-random variables" (1981); L. Devroye,
"Non-uniform random variate generation" (1986), for the Zipf distribution; S. Zhang and J. Jin, "Computation of special
functions" (1996), for the logarithm of gamma, with whose rounding NumPy decides.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pullback.prims.prelude.intrinsics import whole
from pullback.prims.prelude.random_bits import next_double
from pullback.prims.prelude.random_draws import standard_exponential

__all__ = ["binomial", "geometric", "logseries", "poisson", "zipf"]


# -------------------------------------------------------------------------------------------------------- Poisson


def poisson(g: Any, lam: Any) -> Any:
    if lam >= 10.0:
        return poisson_of_large(g, lam)
    count = np.int64(0)
    if lam == 0.0:
        return count
    least, product = np.exp(-lam), next_double(g)
    while product > least:
        product *= next_double(g)
        count += 1
    return count


@whole
def poisson_of_large(g: Any, lam: Any) -> Any:
    log_lam = np.log(lam)
    b = 0.931 + 2.53 * np.sqrt(lam)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    limit = 0.9277 - 3.6224 / (b - 2.0)
    while True:
        u = next_double(g) - 0.5
        v = next_double(g)
        s = 0.5 - abs(u)
        k = np.floor((2.0 * a / s + b) * u + lam + 0.43)
        if s >= 0.07 and v <= limit:
            return np.int64(k)
        if k < 0.0 or (s < 0.013 and v > s):
            continue
        if np.log(v) + np.log(inverse_alpha) - np.log(a / (s * s) + b) <= -lam + k * log_lam - log_gamma(k + 1.0):
            return np.int64(k)


STIRLING = (
    8.333333333333333e-02, -2.777777777777778e-03, 7.936507936507937e-04, -5.952380952380952e-04, 8.417508417508418e-04,
    -1.917526917526918e-03, 6.410256410256410e-03, -2.955065359477124e-02, 1.796443723688307e-01, -1.39243221690590e+00,
)  # fmt: skip


def log_gamma(x: Any) -> Any:
    """log(gamma(x)) for x >= 1, whole: Stirling's series, from 7 on."""
    if x == 1.0 or x == 2.0:
        return x * 0.0
    steps = 0
    if x <= 7.0:
        steps = int(7.0 - x)
    y = x + steps
    inverse = 1.0 / (y * y)
    series = y * 0.0 + STIRLING[9]
    for k in range(9):
        series = series * inverse + STIRLING[8 - k]
    found = series / y + 0.5 * math.log(2.0 * math.pi) + (y - 0.5) * np.log(y) - y
    for _ in range(steps):
        found -= np.log(y - 1.0)
        y -= 1.0
    return found


# ------------------------------------------------------------------------------------------------------- binomial


def binomial(g: Any, n: Any, p: Any) -> Any:
    if n == 0 or p == 0.0:
        return np.int64(0)
    if p <= 0.5:
        return binomial_of_half(g, n, p)
    return n - binomial_of_half(g, n, 1.0 - p)


def binomial_of_half(g: Any, n: Any, p: Any) -> Any:
    """For p up to 1/2."""
    if p * n <= 30.0:
        return binomial_by_inversion(g, n, p)
    return binomial_by_rejection(g, n, p)


def binomial_by_inversion(g: Any, n: Any, p: Any) -> Any:
    q = 1.0 - p
    none = np.exp(n * np.log(q))
    mean = n * p
    most = np.minimum(np.float64(n), mean + 10.0 * np.sqrt(mean * q + 1.0))
    most = np.floor(most)
    count, chance = np.int64(0), none
    u = next_double(g)
    while u > chance:
        count += 1
        if count > most:
            count, chance = np.int64(0), none
            u = next_double(g)
        else:
            u -= chance
            chance = ((n - count + 1) * p * chance) / (count * q)
    return count


@whole
def binomial_by_rejection(g: Any, n: Any, p: Any) -> Any:
    """Under a hat of two triangles, two flanks and two exponential tails (BTPE)."""
    q = 1.0 - p
    centre = n * p + p
    mode = np.floor(centre)
    p1 = np.floor(2.195 * np.sqrt(n * p * q) - 4.6 * q) + 0.5
    middle = mode + 0.5
    left, right = middle - p1, middle + p1
    c = 0.134 + 20.5 / (15.3 + mode)
    a = (centre - left) / (centre - left * p)
    slope_left = a * (1.0 + a / 2.0)
    a = (right - centre) / (right * q)
    slope_right = a * (1.0 + a / 2.0)
    p2 = p1 * (1.0 + 2.0 * c)
    p3 = p2 + c / slope_left
    p4 = p3 + c / slope_right
    while True:
        u = next_double(g) * p4
        v = next_double(g)
        if u <= p1:
            return np.int64(np.floor(middle - p1 * v + u))
        if u <= p2:
            x = left + (u - p1) / c
            v = v * c + 1.0 - abs(mode - x + 0.5) / p1
            if v > 1.0:
                continue
            y = np.floor(x)
        elif u <= p3:
            y = np.floor(left + np.log(v) / slope_left)
            if y < 0.0 or v == 0.0:
                continue
            v = v * (u - p2) * slope_left
        else:
            y = np.floor(right - np.log(v) / slope_right)
            if y > n or v == 0.0:
                continue
            v = v * (u - p3) * slope_right
        if is_under(np.float64(n), p, q, mode, middle, y, v):
            return np.int64(y)


def is_under(n: Any, p: Any, q: Any, mode: Any, middle: Any, y: Any, v: Any) -> bool:
    """Is v no more than the chance of y over that of the mode?"""
    variance = n * p * q
    k = abs(y - mode)
    if k <= 20.0 or k >= variance / 2.0 - 1.0:
        return bool(v <= chance_ratio(n, p, q, mode, y))
    rho = (k / variance) * ((k * (k / 3.0 + 0.625) + 0.16666666666666666) / variance + 0.5)
    t = -k * k / (2.0 * variance)
    log_v = np.log(v)
    if log_v < t - rho:
        return True
    if log_v > t + rho:
        return False
    x, f, z, w = y + 1.0, mode + 1.0, n + 1.0 - mode, n - y + 1.0
    most = middle * np.log(f / x) + (n - mode + 0.5) * np.log(z / w) + (y - mode) * np.log(w * p / (x * q))
    return bool(log_v <= most + stirling(f) + stirling(z) + stirling(x) + stirling(w))


def chance_ratio(n: Any, p: Any, q: Any, mode: Any, y: Any) -> Any:
    s = p / q
    a = s * (n + 1.0)
    ratio = n * 0.0 + 1.0
    for k in range(int(mode) + 1, int(y) + 1):
        ratio *= a / k - s
    for k in range(int(y) + 1, int(mode) + 1):
        ratio /= a / k - s
    return ratio


def stirling(x: Any) -> Any:
    """What Stirling's formula leaves of log(x!)."""
    square = x * x
    return (13680.0 - (462.0 - (132.0 - (99.0 - 140.0 / square) / square) / square) / square) / x / 166320.0


# --------------------------------------------------------------------------------------------------------- others


def geometric(g: Any, p: Any) -> Any:
    if p < 0.333333333333333333333333:
        trials = np.ceil(-standard_exponential(g) / np.log1p(-p))
        return np.int64(9223372036854775807) if trials >= 9.223372036854776e18 else np.int64(trials)
    count = np.int64(1)
    total, chance, u = p, p, next_double(g)
    while u > total:
        chance *= 1.0 - p
        total += chance
        count += 1
    return count


@whole
def logseries(g: Any, p: Any) -> Any:
    r = np.log1p(-p)
    while True:
        v = next_double(g)
        if v >= p:
            return np.int64(1)
        q = -np.expm1(r * next_double(g))
        if v <= q * q:
            found = np.int64(np.floor(1.0 + np.log(v) / np.log(q)))
            if found < 1 or v == 0.0:
                continue
            return found
        return np.int64(1) if v >= q else np.int64(2)


@whole
def zipf(g: Any, a: Any) -> Any:
    if a >= 1025.0:
        return np.int64(1)
    b = 2.0 ** (a - 1.0)
    least = 9223372036854775807.0 ** (1.0 - a)
    while True:
        u = next_double(g)
        u = u * least + (1.0 - u)
        v = next_double(g)
        x = np.floor(u ** (-1.0 / (a - 1.0)))
        if x > 9223372036854775807.0 or x < 1.0:
            continue
        t = (1.0 + 1.0 / x) ** (a - 1.0)
        if v * x * (t - 1.0) / (b - 1.0) <= t / b:
            return np.int64(x)
