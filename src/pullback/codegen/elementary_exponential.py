"""exp, exp2, expm1, sinh, cosh, tanh and sigmoid as branch-free LLVM functions.

All reduce x = n ln(2) + r with |r| <= ln(2)/2. Adding 1.5 * 2**52 rounds to the integer n and leaves it in the low bits
of the sum, so nothing is converted (out-of-range conversions would be poison) and everything widens to vectors:

    shifted = fma(x, log2(e), 1.5 * 2**52)      n = shifted - 1.5 * 2**52
    r       = fma(-n, ln2_rest, fma(-n, ln2, x))

The inner fma is exact: its result is a small multiple of the last place of ln2. Then e**x = 2**n (1 + r + r**2 q(r)),
q a minimax polynomial. 2**n is applied in two factors, so that overflow and subnormal results round once.
Reductions: W. J. Cody and W. Waite, Software Manual for the Elementary Functions (1980). sinh and cosh use the addition
theorem on n ln(2) + r; tanh is expm1(2x) / (expm1(2x) + 2), its numerator in two parts. Code and fits are our own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from pullback.codegen import elementary_coefficients as c
from pullback.codegen.elementary_pairs import Pair, fast_sum
from pullback.codegen.elementary_text import Body, Recipes, Value, chosen, recipe

RECIPES: Recipes = {}
SHIFT = 1.5 * 2.0**52
SINH_LARGEST = 710.4758600739439


@dataclass(frozen=True, slots=True)
class Reduced:
    """x = n ln(2) + r + rest, with n in the low bits of `bits`."""

    bits: Value
    r: Value
    rest: Value


def reduce_exponent(body: Body, x: Value, rest: Value | None = None) -> Reduced:
    """Reduce x, or x + rest for a rest below an ulp of x."""
    shifted = body.fma(x, c.LOG2_E, SHIFT)
    minus_n = SHIFT - shifted
    high = body.fma(minus_n, c.LN2, x)
    if rest is not None:
        low = body.fma(minus_n, c.LN2_REST, rest)
        r = high + low
        return Reduced(body.bits(shifted), r, (high - r) + low)
    r = body.fma(minus_n, c.LN2_REST, high)
    return Reduced(body.bits(shifted), r, body.fma(minus_n, c.LN2_REST, high - r))


def power_of_two(body: Body, n: Value) -> Value:
    """2**n from an i64 whose low 12 bits hold n, for normal results; higher bits fall out."""
    return body.from_bits((n + 1023) << 52)


def two_scales(body: Body, bits: Value) -> tuple[Value, Value]:
    """Integers n1 + n2 = n of about n/2 each (in their low bits), so that 2**n1 and 2**n2 are normal."""
    half = bits >> 1
    return half, bits - half


def exponential(body: Body, x: Value, rest: Value | None = None) -> Value:
    """e**(x + rest); NaN gives NaN, and huge arguments give 0 and inf. `rest` must be below an ulp of x."""
    if rest is None:
        reduced = reduce_exponent(body, bounded(body, x, 200.0 if body.single else 750.0))
        return _product(body, _less_one(body, reduced.r), reduced.bits)
    reduced = reduce_exponent(body, x, rest)
    return _scaled(body, x, _less_one(body, reduced.r), reduced.bits)


def exponential_parts(body: Body, x: Value, rest: Value) -> tuple[Pair, Value]:
    """e**(x + rest) as high + low, to about 2**-60, and n in the low bits of an integer: to be taken times 2**n."""
    reduced = reduce_exponent(body, bounded(body, x, 1400.0), rest)
    r = reduced.r
    high = r + 1.0
    low = ((1.0 - high) + r) + (reduced.rest + r * r * body.estrin(r, c.EXP))
    return fast_sum(high, low), reduced.bits


def bounded(body: Body, x: Value, bound: float) -> Value:
    """x between two bounds, where the results are 0 and inf; NaN passes."""
    below = body.select(x.greater(bound), bound, x)
    return body.select(below.less(-bound), -bound, below)


def _less_one(body: Body, r: Value) -> Value:
    """e**r - 1 for a reduced argument."""
    return body.estrin(r * r, [r, *body.pairs(r, chosen(body, c.EXP, c.EXP_SINGLE))])


def _scaled(body: Body, x: Value, t: Value, bits: Value) -> Value:
    """(1 + t) 2**n, where n is about x or x log2(e)."""
    return within(body, x, 200.0 if body.single else 1100.0, _product(body, t, bits), 0.0)


def _product(body: Body, t: Value, bits: Value) -> Value:
    """(1 + t) 2**n; over- and underflow come of themselves while |n| < 1100."""
    if body.single:  # the range of float32 is well inside that of double, whose rounding then does the rest
        scale = power_of_two(body, bits)
        return body.fma(t, scale, scale)
    first, second = (power_of_two(body, n) for n in two_scales(body, bits))
    return body.fma(t, first, first) * second


def within(body: Body, x: Value, bound: float, value: Value, least: float) -> Value:
    """The value where |x| < bound or x is NaN; else inf above and `least` below."""
    outside = body.select(x.greater(0.0), math.inf, least)
    return body.select(body.fabs(x).compare("ult", bound), value, outside)


@recipe(RECIPES, "exp")
def _exp(body: Body, x: Value) -> Value:
    return exponential(body, x)


@recipe(RECIPES, "exp2")
def _exp2(body: Body, x: Value) -> Value:
    """2**x = 2**n 2**r with r = x - n exactly."""
    shifted = x + SHIFT
    r = x - (shifted - SHIFT)
    first, *others = chosen(body, c.EXP2, c.EXP2_SINGLE)
    t = body.estrin(r * r, [r * first, *body.pairs(r, others)])
    return _scaled(body, x, t, body.bits(shifted))


def _expm1_parts(body: Body, reduced: Reduced, scale: Value, minus_one: Value) -> Pair:
    """scale * e**r + minus_one as a sum; the scale is 2**n, and r is the reduced argument.

    (scale + minus_one) + scale r is summed without error: where the scale is not 1 the first term is the larger.
    """
    r = reduced.r
    p = r * r * body.estrin(r, c.EXP)
    base = scale + minus_one
    high = body.fma(scale, r, base)
    low = body.fma(scale, r, base - high)
    return Pair(high, body.fma(scale, p + reduced.rest, low))


@recipe(RECIPES, "expm1")
def _expm1(body: Body, x: Value) -> Value:
    reduced = reduce_exponent(body, x)
    n1, n2 = two_scales(body, reduced.bits)
    inverse = body.from_bits((body.constant("i64", 1023) - n2) << 52)
    parts = _expm1_parts(body, reduced, power_of_two(body, n1), -inverse)
    finite = (parts.high + parts.low) * power_of_two(body, n2)
    return body.copysign(within(body, x, 1000.0, finite, -1.0), x)


@recipe(RECIPES, "tanh")
def _tanh(body: Body, x: Value) -> Value:
    magnitude = body.fabs(x)
    doubled = magnitude + magnitude
    reduced = reduce_exponent(body, doubled)
    scale = power_of_two(body, reduced.bits)
    if body.single:  # for float32 the sum rounds far below the last place
        numerator = body.fma(_less_one(body, reduced.r), scale, scale - 1.0)
    else:
        parts = _expm1_parts(body, reduced, scale, body.constant("double", -1.0))
        numerator = parts.high + parts.low
    ratio = numerator / (numerator + 2.0)
    return body.copysign(body.select(doubled.greater(44.0), 1.0, ratio), x)


@recipe(RECIPES, "sigmoid")
def _sigmoid(body: Body, x: Value) -> Value:
    """1 / (1 + e**-x), by z = e**-|x| as 1 / (1 + z) or z / (1 + z): small results keep their digits."""
    z = exponential(body, -body.fabs(x))
    return body.select(x.less(0.0), z, 1.0) / (z + 1.0)


@dataclass(frozen=True, slots=True)
class Hyperbolic:
    """|x| = n ln(2) + r: half-scaled sinh and cosh of n ln(2), sinh(r), cosh(r) - 1, and the factor that is left."""

    sinh_n: Value
    cosh_n: Value
    sinh_r: Pair
    cosh_r_minus_1: Value
    factor: Value


def _hyperbolic(body: Body, magnitude: Value) -> Hyperbolic:
    reduced = reduce_exponent(body, magnitude)
    r = reduced.r
    z = r * r
    sinh_low = body.fma(z * r, body.estrin(z, chosen(body, c.SINH, c.SINH_SINGLE)), reduced.rest)
    cosh_minus_1 = z * body.estrin(z, chosen(body, c.COSH, c.COSH_SINGLE))
    large = magnitude.greater(600.0)
    # 2**(n-1) would overflow for the last binade of results: leave a factor two to the end.
    growing = power_of_two(body, reduced.bits - body.select(large, body.constant("i64", 2), 1))
    shrinking = body.from_bits((body.constant("i64", 1022) - reduced.bits) << 52)
    shrinking = body.select(magnitude.greater(30.0), 0.0, shrinking)
    factor = body.select(large, 2.0, 1.0)
    return Hyperbolic(growing - shrinking, growing + shrinking, Pair(r, sinh_low), cosh_minus_1, factor)


@recipe(RECIPES, "sinh")
def _sinh(body: Body, x: Value) -> Value:
    magnitude = body.fabs(x)
    h = _hyperbolic(body, magnitude)
    # sinh_n + cosh_n r is summed without error (sinh_n is 0 or the larger); the small terms go with its remainder.
    high = body.fma(h.cosh_n, h.sinh_r.high, h.sinh_n)
    low = body.fma(h.cosh_n, h.sinh_r.high, h.sinh_n - high)
    low = body.fma(h.sinh_n, h.cosh_r_minus_1, body.fma(h.cosh_n, h.sinh_r.low, low))
    finite = (high + low) * h.factor
    return body.copysign(body.select(magnitude.greater(SINH_LARGEST), math.inf, finite), x)


@recipe(RECIPES, "cosh")
def _cosh(body: Body, x: Value) -> Value:
    magnitude = body.fabs(x)
    h = _hyperbolic(body, magnitude)
    low = body.fma(h.cosh_n, h.cosh_r_minus_1, h.sinh_n * (h.sinh_r.high + h.sinh_r.low))
    finite = (h.cosh_n + low) * h.factor
    return body.select(magnitude.greater(SINH_LARGEST), math.inf, finite)
