"""How a gamma, beta or Wald variable moves with its shape, the chance of being below it held fixed.

    x = gamma_moved(x, a)           dx = gamma_slope(x, a) * da  =  - (dF/da) / (dF/dx) * da,  F the distribution

Source: M. Figurnov, S. Mohamed and A. Mnih, "Implicit reparameterization gradients" (2018).  The quotients are sums and
continued fractions whose terms have one sign, so nothing is lost by cancellation, in the tails neither: with the series

    F = exp(-x) x**a / gamma(a) * sum of t[n],   t[n] = x**n / (a (a+1) ... (a+n))

the slope is x * sum of t[n] * (digamma(a+n+1) - log x).  It is plain Python: derivatives of any order follow.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pullback.prims.prelude.intrinsics import digamma, erfcx, ruled, stop

__all__ = ["beta_moved", "gamma_moved", "wald_moved"]

ENOUGH = 1e-17


def gamma_slope(x: Any, a: Any) -> Any:
    """The derivative of a gamma variable by its shape."""
    if x <= 0.0:
        return x * a * 0.0
    if x > a + 1.0:
        return gamma_slope_above(x, a)
    ahead = digamma(a + 1.0) - np.log(x)  # digamma(a + n + 1) - log x
    term = 1.0 / a
    total = term * ahead
    place = a + 1.0
    while abs(stop(term * ahead)) > ENOUGH * abs(stop(total)):
        term = term * (x / place)
        ahead = ahead + 1.0 / place
        total = total + term * ahead
        place = place + 1.0
    return x * total


def gamma_slope_above(x: Any, a: Any) -> Any:
    """For x > a + 1, from the upper tail: 1 - F = p(x) x C, C a continued fraction; the slope is x (L C + dC/da).

    C = 1 / (x + 1 - a - (1 (1 - a)) / (x + 3 - a - ...)), evaluated from its end together with its derivative.
    """
    ahead = np.log(x) - digamma(a)
    depth = terms_above(stop(x), stop(a))
    rest, slope = x * 0.0, x * 0.0  # the part below, and its derivative by a
    for back in range(depth):
        n = np.float64(depth - back)
        under = x + 2.0 * n + 1.0 - a + rest
        top = n * (a - n)
        rest, slope = top / under, n / under - top * (slope - 1.0) / (under * under)
    whole = x + 1.0 - a + rest
    return x * (ahead / whole - (slope - 1.0) / (whole * whole))


def terms_above(x: Any, a: Any) -> int:
    """How far the continued fraction has to be followed for all digits."""
    return int(20.0 + 100.0 / (1.0 + abs(x - a)) + 12.0 * np.sqrt(x) / (1.0 + (x - a) / np.sqrt(x)))


def gamma_tangent(primals: Any, tangents: Any) -> Any:
    (x, a), (dx, da) = primals, tangents
    y = gamma_moved(x, a)
    return y, dx + gamma_slope(y, a) * da


@ruled(jvp=gamma_tangent)
def gamma_moved(x: Any, a: Any) -> Any:
    """x, a gamma variable of shape a, which moves with a."""
    return x + 0.0 * a


def beta_slopes(x: Any, rest: Any, a: Any, b: Any) -> Any:
    """The derivatives of a beta variable x = 1 - rest by both shapes, for x up to its mean or so.

    F = x**a rest**b / B(a, b) * sum of t[n], t[n] = (a+b) ... (a+b+n-1) / (a ... (a+n)) x**n
    """
    if x <= 0.0:
        return x * a * 0.0, x * b * 0.0
    log_x, log_rest = np.log(x), np.log1p(-x)
    term = 1.0 / a
    by_a = digamma(a + 1.0) - digamma(a + b) - log_x
    by_b = digamma(b) - digamma(a + b) - log_rest
    first, second = term * by_a, term * by_b
    n = a * 0.0
    while abs(stop(term * by_a)) > ENOUGH * abs(stop(first)) or abs(stop(term * by_b)) > ENOUGH * abs(stop(second)):
        term = term * (x * (a + b + n) / (a + n + 1.0))
        by_a = by_a + 1.0 / (a + n + 1.0) - 1.0 / (a + b + n)
        by_b = by_b - 1.0 / (a + b + n)
        first, second = first + term * by_a, second + term * by_b
        n = n + 1.0
    return x * rest * first, x * rest * second


def beta_tangent(primals: Any, tangents: Any) -> Any:
    (x, a, b), (dx, da, db) = primals, tangents
    y = beta_moved(x, a, b)
    if y <= (a + 1.0) / (a + b + 2.0):
        by_a, by_b = beta_slopes(y, 1.0 - y, a, b)
        return y, dx + by_a * da + by_b * db
    by_b, by_a = beta_slopes(1.0 - y, y, b, a)
    return y, dx - by_a * da - by_b * db


@ruled(jvp=beta_tangent)
def beta_moved(x: Any, a: Any, b: Any) -> Any:
    """x, a beta variable of shapes a and b, which moves with them."""
    return x + 0.0 * a + 0.0 * b


def wald_tangent(primals: Any, tangents: Any) -> Any:
    """dx = 2 scale / mean**2 w dmean + (x - 2 scale / mean w) dscale / scale, w = sqrt(x**3 / scale) M.

    M is the quotient (1 - N(b)) / n(b) of the normal distribution at b = sqrt(scale / x) (x / mean + 1).
    """
    (x, mean, scale), (dx, dmean, dscale) = primals, tangents
    y = wald_moved(x, mean, scale)
    b = np.sqrt(scale / y) * (y / mean + 1.0)
    w = np.sqrt(0.5 * np.pi) * erfcx(np.sqrt(0.5) * b) * y * np.sqrt(y / scale)
    by_mean = 2.0 * scale / (mean * mean) * w
    return y, dx + by_mean * dmean + (y - mean * by_mean) / scale * dscale


@ruled(jvp=wald_tangent)
def wald_moved(x: Any, mean: Any, scale: Any) -> Any:
    """x, a Wald variable of a mean and a scale, which moves with them."""
    return x + 0.0 * mean + 0.0 * scale
