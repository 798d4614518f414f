"""log, log2, log10, log1p and pow as branch-free LLVM functions.

An argument is split as 2**k m with sqrt(1/2) <= m < sqrt(2) or so, by integer arithmetic on its bits (subnormals are
scaled up first). The leading seven bits of m pick 1/c and log(c) from a table, c near m (P. T. P. Tang, Table-driven
implementation of the logarithm function, 1990), and with r = m/c - 1, exact by fma, |r| < 0.0058:

    log(x) = k ln(2) + log(c) + log(1 + r)            log(1 + r) = r - r**2/2 + r**3 P(r), P a minimax polynomial

Around 1 the table holds c = 1, so that results keep their relative accuracy there (as in the optimized routines of Arm
Ltd.). log2, log10 and pow keep the sum in two parts (T. J. Dekker, 1971) while multiplying with log2(e), log10(e) or y;
pow has log(x) to about 2**-66, takes its exponential in two parts, and its special cases are those of C99 Annex F.
Code, tables and fits are our own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from pullback.codegen import elementary_coefficients as c
from pullback.codegen.elementary_exponential import exponential
from pullback.codegen.elementary_pairs import Pair, constant_pair, fast_sum
from pullback.codegen.elementary_tables import LOG_OFFSET, LOG_TABLE
from pullback.codegen.elementary_text import Body, Recipes, Value, chosen, recipe

RECIPES: Recipes = {}
ONE_BITS = 0x3FF0000000000000
MANTISSA = 0x000FFFFFFFFFFFFF
LEAST_NORMAL = 2.0**-1022


@dataclass(frozen=True, slots=True)
class Split:
    """x = 2**k c (1 + r); `row` is where c stands in the tables and `scale_bits` has k in its low bits."""

    k: Value
    r: Value
    inverse: Value
    row: Value
    scale_bits: Value

    def column(self, number: int) -> Value:
        return _column(self.k.body, self.row, number)


def _column(body: Body, row: Value, number: int) -> Value:
    name = ("inverse", "log", "log_rest")[number]
    return body.load(f"pb.table.{name}", LOG_TABLE[number::3], "double", row)


def split(body: Body, x: Value) -> Split:
    """Split a positive finite double (others give some meaningless split). No float32 is subnormal as a double."""
    offset: Value = body.constant("double", 2.0**52 + 1023)
    if not body.single:
        tiny = x.less(LEAST_NORMAL)
        x = body.select(tiny, x * 2.0**54, x)
        offset = body.select(tiny, 2.0**52 + 1023 + 54, offset)
    moved = body.bits(x) + (ONE_BITS - LOG_OFFSET)
    biased = moved >> 52
    k = body.from_bits(biased | 0x4330000000000000) - offset  # 2**52 + biased, built as bits
    m = body.from_bits((moved & MANTISSA) + LOG_OFFSET)
    row = (moved >> 45) & 127
    inverse = _column(body, row, 0)
    return Split(k, body.fma(m, inverse, -1.0), inverse, row, biased)


def finish(body: Body, x: Value, result: Value) -> Value:
    """Put in what every logarithm gives at inf and NaN (the argument), at 0 (-inf) and below (NaN)."""
    bounded = body.select(x.less(math.inf), result, x)
    outside = body.select(x.equal(0.0), -math.inf, math.nan)
    return body.select(x.compare("ugt", 0.0), bounded, outside)


def _sum(body: Body, parts: Split, r: Value) -> Value:
    """k ln(2) + log(c) + log(1 + r), the small parts first."""
    coefficients = chosen(body, c.LOG, c.LOG_SINGLE)
    low = body.fma(parts.k, c.LN2_SHORT_REST, r)
    logarithm = body.estrin(r * r, [low, *body.pairs(r, [-0.5, *coefficients])])
    return body.fma(parts.k, c.LN2_SHORT, parts.column(1)) + logarithm


def natural_logarithm(body: Body, x: Value) -> Value:
    """log of a positive finite double."""
    parts = split(body, x)
    return _sum(body, parts, parts.r)


@recipe(RECIPES, "log")
def _log(body: Body, x: Value) -> Value:
    return finish(body, x, natural_logarithm(body, x))


def _scaled_logarithm(body: Body, x: Value, factor: Pair, unit: Pair) -> Value:
    """log(x) * factor, with `unit` = log(2) * factor, whose high part times k is exact."""
    parts = split(body, x)
    r = parts.r
    first = fast_sum(parts.column(1), r)
    tail = r * r * body.estrin(r, [-0.5, *chosen(body, c.LOG, c.LOG_SINGLE)])
    low = first.low + parts.column(2) + tail
    product = first.high * factor.high
    product_low = body.fma(first.high, factor.high, -product) + body.fma(first.high, factor.low, low * factor.high)
    total = fast_sum(parts.k * unit.high, product)
    return total.high + (total.low + body.fma(parts.k, unit.low, product_low))


@recipe(RECIPES, "log2")
def _log2(body: Body, x: Value) -> Value:
    factor = constant_pair(body, c.LOG2_E, c.LOG2_E_REST)
    return finish(body, x, _scaled_logarithm(body, x, factor, constant_pair(body, 1.0, 0.0)))


@recipe(RECIPES, "log10")
def _log10(body: Body, x: Value) -> Value:
    factor = constant_pair(body, c.LOG10_E, c.LOG10_E_REST)
    unit = constant_pair(body, c.LOG10_2_SHORT, c.LOG10_2_SHORT_REST)
    return finish(body, x, _scaled_logarithm(body, x, factor, unit))


def logarithm_of_one_plus(body: Body, x: Value, low: Value | None = None, doubled: Value | None = None) -> Value:
    """log(1 + x + low) for finite x > -1, plus log(2) where `doubled` holds; relative accuracy is kept around 0.

    1 + x is taken with its rounding error (D. E. Knuth's two-sum), which joins r of the table-driven logarithm.
    """
    u = x + 1.0
    part = u - x
    error = (x - (u - part)) + (1.0 - part)
    if low is not None:
        error = error + low
    parts = split(body, u)
    scale = body.from_bits((body.constant("i64", 2046) - parts.scale_bits) << 52)
    correction = body.select(parts.k.less(1000.0), error * scale * parts.inverse, 0.0)
    if doubled is not None:
        parts = replace(parts, k=parts.k + body.select(doubled, 1.0, 0.0))
    return _sum(body, parts, parts.r + correction)


@recipe(RECIPES, "log1p")
def _log1p(body: Body, x: Value) -> Value:
    inside = body.copysign(logarithm_of_one_plus(body, x), x)
    bounded = body.select(x.less(math.inf), inside, x)
    outside = body.select(x.equal(-1.0), -math.inf, math.nan)
    return body.select(x.compare("ugt", -1.0), bounded, outside)


def long_logarithm(body: Body, x: Value) -> Pair:
    """log of a positive finite double with an error below 2**-65 of its value."""
    parts = split(body, x)
    r = parts.r
    half = r * -0.5
    square = r * half
    square_low = body.fma(r, half, -square)
    first = fast_sum(parts.k * c.LN2_SHORT, parts.column(1))
    second = fast_sum(first.high, r)
    third = fast_sum(second.high, square)
    small = body.fma(parts.k, c.LN2_SHORT_REST, parts.column(2)) + first.low + square_low
    tail = body.fma(r * r * r, body.estrin(r, c.LOG_LONG), small + (second.low + third.low))
    return fast_sum(third.high, tail)


def _power(body: Body, x: Value, y: Value) -> Value:
    """x**y for positive finite x other than 1 and for y other than 0 and NaN."""
    if body.single:
        return exponential(body, y * natural_logarithm(body, x))
    logarithm = long_logarithm(body, x)
    product = y * logarithm.high
    error = body.fma(y, logarithm.low, body.fma(y, logarithm.high, -product))
    # Where the result is 0 or inf the error term may itself be inf or NaN.
    moderate = body.fabs(product).less(1000.0)
    return exponential(body, product, body.select(moderate, error, 0.0))


@recipe(RECIPES, "pow", ("x", "x"))
def _pow(body: Body, x: Value, y: Value) -> Value:
    """All special cases are gathered beside the calculation, which they replace by one select at its end."""
    magnitude = body.fabs(x)
    half = y * 0.5
    is_integer = body.trunc(y).equal(y)
    is_odd = is_integer & body.trunc(half).compare("une", half)
    sign_bit = body.select(is_odd, body.bits(x) & -(1 << 63), 0)

    def signed(value: Value) -> Value:
        return body.from_bits(body.bits(value) ^ sign_bit)

    has_root = x.compare("oge", 0.0) | is_integer | x.equal(-math.inf)
    is_bound = magnitude.equal(0.0) | magnitude.equal(math.inf)
    is_unit = magnitude.equal(1.0)
    grows = magnitude.greater(1.0).compare("eq", y.greater(0.0))
    bound = signed(body.select(grows, body.constant("double", math.inf), 0.0))
    special = body.select(is_bound & has_root, bound, math.nan)
    special = body.select(is_unit & has_root, signed(body.constant("double", 1.0)), special)
    special = body.select(y.equal(y), special, y)
    always_one = y.equal(0.0) | x.equal(1.0)
    special = body.select(always_one, 1.0, special)
    is_special = always_one | is_bound | is_unit | (has_root ^ 1) | y.compare("uno", x)
    return body.select(is_special, special, signed(_power(body, magnitude, y)))
