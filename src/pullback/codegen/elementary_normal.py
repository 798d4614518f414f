"""erf, erfc, erfcx = exp(x**2) erfc(x), and the normal distribution's ndtr and log_ndtr.

erf is x + x P(x**2) for |x| <= 1/2; above, one of 22 minimax polynomials of degree 11 around the centres 5/8 ... 47/8,
picked from a table by the argument. Both are evaluated, so there is no branch.

The others rest on erfcx, which falls slowly: for 1/2 <= z < 32 a polynomial of degree 11 for each eighth of an octave,
above, P(1/z**2)/z. Squares are taken with their rounding errors, which exp would otherwise magnify:

    erfc(z) = exp(-z**2) erfcx(z)                     ndtr(x)     = exp(-x**2/2) erfcx(-x/sqrt(2)) / 2     x < 0
    erfcx(-z) = 2 exp(z**2) - erfcx(z)                log_ndtr(x) = log(erfcx(-x/sqrt(2))/2) - x**2/2      x < 0
"""

from __future__ import annotations

import math

from pullback.codegen import elementary_coefficients as c
from pullback.codegen.elementary_exponential import exponential_parts, power_of_two, two_scales
from pullback.codegen.elementary_logarithm import logarithm_of_one_plus, natural_logarithm
from pullback.codegen.elementary_pairs import (
    Pair,
    constant_pair,
    divide,
    fast_sum,
    multiply,
    negative,
    octaves,
    product,
    select_pair,
)
from pullback.codegen.elementary_tables import ERF_TABLE, ERFCX_TABLE
from pullback.codegen.elementary_text import Body, Recipes, Value, recipe

RECIPES: Recipes = {}
ERF_TERMS = 12
SMALL, FAR = 0.5, 32.0  # the table of erfcx lies between
LARGEST_SQUARE = 1400.0  # exp of it is inf, of its negative 0


@recipe(RECIPES, "erf")
def _erf(body: Body, x: Value) -> Value:
    magnitude = body.fabs(x)
    z = magnitude * magnitude
    inner = body.fma(magnitude, body.estrin(z, c.ERF_SMALL), magnitude)
    # Interval number floor(4 |x|), between 2 and 23; a NaN reads the last row and stays NaN through the argument.
    quarters = magnitude * 4.0
    bounded = body.select(quarters.less(2.0), 2.0, body.select(quarters.less(23.0), quarters, 23.0))
    number = body.trunc(bounded)
    row = body.bits(number + 2.0**52) & 31
    d = magnitude - (number + 0.5) * 0.25
    start = (row - 2) * ERF_TERMS
    offsets = [start, *(start + i for i in range(1, ERF_TERMS))]
    first, second, *others = (body.load("pb.table.erf", ERF_TABLE, "double", offset) for offset in offsets)
    # The constant, which is most of the value, is added last.
    change = body.estrin(d * d, [second * d, *body.pairs(d, others)])
    outer = body.select(magnitude.greater(5.93), 1.0, first + change)
    return body.copysign(body.select(magnitude.less(0.5), inner, outer), x)


def _scaled(body: Body, z: Value, rest: Value) -> Pair:
    """erfcx(z + rest) for 1/2 <= z < 32"""
    return octaves(body, "pb.table.erfcx", ERFCX_TABLE, (SMALL, FAR), z, rest)


def _far_scaled(body: Body, z: Value) -> Pair:
    """erfcx(z) for z >= 32"""
    inverse = 1.0 / z
    square = inverse * inverse
    first, *others = c.ERFCX_FAR
    tail = body.fma(square, body.estrin(square, others), c.INVERSE_ROOT_PI_REST)
    value = divide(fast_sum(body.constant("double", first), tail), Pair(z, body.constant("double", 0.0)))
    return Pair(value.high, body.select(z.less(math.inf), value.low, 0.0))


def _exponential(body: Body, square: Pair) -> tuple[Pair, Value]:
    """exp of a square or its negative, in two factors of which the second, a power of two, is applied last."""
    moderate = body.fabs(square.high).less(LARGEST_SQUARE)
    parts, bits = exponential_parts(body, square.high, body.select(moderate, square.low, 0.0))
    first, second = (power_of_two(body, n) for n in two_scales(body, bits))
    return Pair(parts.high * first, parts.low * first), second


def _one_less(body: Body, x: Value, rest: Value) -> Pair:
    """1 - erf(x + rest) for |x| < 1/2"""
    tail = body.fma(x, body.estrin(x * x, c.ERF_SMALL), rest)
    one = fast_sum(body.constant("double", 1.0), -x)
    return fast_sum(one.high, one.low - tail)


def _upper(body: Body, z: Value, rest: Value, square: Pair) -> Value:
    """erfc(z + rest) for any z, whose square is given."""
    size, flip = body.fabs(z), z.less(0.0)
    exponential, last = _exponential(body, negative(square))
    tail = multiply(exponential, _scaled(body, size, body.select(flip, -rest, rest))).total() * last
    tail = body.select(flip, 2.0 - tail, tail)
    return body.select(size.less(SMALL), _one_less(body, z, rest).total(), tail)


@recipe(RECIPES, "erfc")
def _erfc(body: Body, x: Value) -> Value:
    return _upper(body, x, body.constant("double", 0.0), product(x, x))


@recipe(RECIPES, "erfcx")
def _erfcx(body: Body, x: Value) -> Value:
    zero = body.constant("double", 0.0)
    size = body.fabs(x)
    small = size.less(SMALL)
    right = body.select(size.less(FAR), _scaled(body, size, zero).total(), _far_scaled(body, size).total())
    exponential, last = _exponential(body, product(x, x))
    factor = select_pair(body, small, _one_less(body, x, zero), constant_pair(body, 2.0, 0.0))
    left = multiply(exponential, factor)
    left = Pair(left.high * last, left.low * last)
    finite = left.high.less(math.inf)
    below = body.select(finite, left.high + (left.low - body.select(small, 0.0, right)), left.high)
    value = body.select(small | x.less(0.0), below, right)
    return body.select(x.compare("uno", x), x, value)


def _over_root_two(body: Body, x: Value) -> Pair:
    """Its rest is NaN for infinite x."""
    half = product(x, body.constant("double", c.ROOT_HALF))
    return Pair(half.high, body.fma(x, c.ROOT_HALF_REST, half.low))


def _half_square(body: Body, x: Value) -> Pair:
    square = product(x, x)
    return Pair(square.high * 0.5, square.low * 0.5)


@recipe(RECIPES, "ndtr")
def _ndtr(body: Body, x: Value) -> Value:
    z = _over_root_two(body, -x)
    return _upper(body, z.high, z.low, _half_square(body, x)) * 0.5


@recipe(RECIPES, "log_ndtr")
def _log_ndtr(body: Body, x: Value) -> Value:
    """For x < 0 log(erfcx(z)/2) - x**2/2 or, where z is small, log(erfc(z)/2); else log(1 - erfc(z)/2)."""
    size = body.fabs(x)
    z = _over_root_two(body, size)
    small, far = z.high.less(SMALL), z.high.compare("oge", FAR)
    square = _half_square(body, x)
    outer = select_pair(body, far, _far_scaled(body, z.high), _scaled(body, z.high, z.low))
    inner = _one_less(body, z.high, z.low)
    near = select_pair(body, small, inner, outer)
    logarithm = natural_logarithm(body, near.high * 0.5) + near.low / near.high
    less = select_pair(body, small, constant_pair(body, 0.0, 0.0), square)
    left = logarithm - less.low - less.high
    left = body.select(size.less(2.0**500), left, size * (size * -0.5))
    exponential, last = _exponential(body, negative(square))
    tail = multiply(exponential, outer)
    tail = select_pair(body, small, inner, Pair(tail.high * last, tail.low * last))
    right = logarithm_of_one_plus(body, tail.high * -0.5, tail.low * -0.5)
    value = body.select(x.less(0.0), left, -body.fabs(right))  # -0 for large x
    return body.select(x.compare("uno", x), x, value)
