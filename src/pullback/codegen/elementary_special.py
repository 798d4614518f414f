"""cbrt and the inverse hyperbolic functions.

cbrt splits off the exponent's multiple of 3, starts from a minimax polynomial of the mantissa (27 bits) and adds two
terms of the binomial series of its residual, which fma gives exactly enough.

asinh, acosh and atanh are written as log(1 + w) (fdlibm's identities, K. C. Ng, 1993) with w in two parts:

    asinh(x) = log(1 + x + x**2 / (1 + sqrt(1 + x**2)))     x >= 0
    acosh(x) = log(1 + t + sqrt(t (t + 2)))                 t = x - 1
    atanh(x) = log(1 + 2x / (1 - x)) / 2                    x >= 0
"""

from __future__ import annotations

import math

from pullback.codegen import elementary_coefficients as c
from pullback.codegen.elementary_logarithm import LEAST_NORMAL, MANTISSA, ONE_BITS, logarithm_of_one_plus
from pullback.codegen.elementary_pairs import fast_sum
from pullback.codegen.elementary_text import Body, Recipes, Value, recipe

RECIPES: Recipes = {}


@recipe(RECIPES, "cbrt")
def _cbrt(body: Body, x: Value) -> Value:
    magnitude = body.fabs(x)
    tiny = magnitude.less(LEAST_NORMAL)
    bits = body.bits(body.select(tiny, magnitude * 2.0**54, magnitude))
    exponent = bits >> 52
    third = (exponent * 21846) >> 16  # exponent // 3
    extra = exponent - third * 3
    mantissa = body.from_bits((bits & MANTISSA) | ONE_BITS)
    a = mantissa * body.from_bits((extra + 1023) << 52)
    root_two = body.select(extra.compare("eq", 0), 1.0, body.select(extra.compare("eq", 1), 2 ** (1 / 3), 4 ** (1 / 3)))
    y = body.estrin(mantissa - 1.0, c.CBRT) * root_two
    square = y * y
    residual = body.fma(-square, y, a) - body.fma(y, y, -square) * y
    d = residual / a
    root = body.fma(y, d * body.fma(d, -1 / 9, 1 / 3), y)
    shift = body.select(tiny, body.constant("i64", 1023 - 341 - 18), 1023 - 341)
    result = body.copysign(root * body.from_bits((third + shift) << 52), x)
    ordinary = magnitude.greater(0.0) & magnitude.less(math.inf)
    return body.select(ordinary, result, x)


LARGE = 2.0**28  # above it asinh(x) and acosh(x) are log(2x) = log(1 + x - 1) + log(2)


@recipe(RECIPES, "asinh")
def _asinh(body: Body, x: Value) -> Value:
    a = body.fabs(x)
    large = a.greater(LARGE)
    square = body.select(large, 0.0, a * a)
    w = fast_sum(a, square / (body.sqrt(square + 1.0) + 1.0))
    result = logarithm_of_one_plus(body, w.high, body.select(large, -1.0, w.low), large)
    return body.copysign(body.select(a.less(math.inf), result, a), x)


@recipe(RECIPES, "acosh")
def _acosh(body: Body, x: Value) -> Value:
    large = x.greater(LARGE)
    t = x - 1.0
    t_low = (x - t) - 1.0
    around = t + 2.0
    around_low = (t - (around - 2.0)) + t_low
    square = body.select(large, 0.0, t * around)
    square_low = body.fma(t, around, -square) + body.fma(t, around_low, t_low * around)
    root = body.sqrt(square)
    root_low = (body.fma(-root, root, square) + square_low) / (root + root)
    w = fast_sum(root, t)
    low = body.select(root.greater(0.0), w.low + root_low + t_low, body.select(large, -1.0, 0.0))
    result = logarithm_of_one_plus(body, body.select(large, x, w.high), low, large)
    inside = body.select(x.less(math.inf), result, x)
    return body.select(x.less(1.0), math.nan, inside)


@recipe(RECIPES, "atanh")
def _atanh(body: Body, x: Value) -> Value:
    a = body.fabs(x)
    difference = 1.0 - a
    difference_low = (1.0 - difference) - a
    ratio = (a + a) / difference
    ratio_low = body.fma(-ratio, difference_low, body.fma(-ratio, difference, a + a)) / difference
    inside = logarithm_of_one_plus(body, ratio, ratio_low) * 0.5
    outside = body.select(a.equal(1.0), math.inf, math.nan)
    return body.copysign(body.select(a.less(1.0), inside, outside), x)
