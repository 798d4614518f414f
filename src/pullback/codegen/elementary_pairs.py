"""Unevaluated sums of two doubles, for what must be known to more than 53 bits before it is rounded.

    two_sum(1.0, 2.0**-60)    =  1.0 + 2.0**-60            exact (D. E. Knuth)
    product(x, y)             =  x*y + its rounding error  exact (T. J. Dekker, by fma)

`high` is the sum rounded, or nearly so; errors of what is not called exact are below 2**-100 of the result.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from pullback.codegen.elementary_text import Body, Value


@dataclass(frozen=True, slots=True)
class Pair:
    """An unevaluated sum."""

    high: Value
    low: Value

    def total(self) -> Value:
        return self.high + self.low

    def packed(self) -> Value:
        return self.high.body.pack(self.high, self.low)


def unpacked(pair: Value) -> Pair:
    """The two doubles of one value that a function returned."""
    return Pair(*pair.body.unpack(pair))


def constant_pair(body: Body, high: float, low: float) -> Pair:
    """A number in two parts."""
    return Pair(body.constant("double", high), body.constant("double", low))


def negative(pair: Pair) -> Pair:
    """The pair with the other sign."""
    return Pair(-pair.high, -pair.low)


def select_pair(body: Body, condition: Value, yes: Pair, no: Pair) -> Pair:
    """Choose between two pairs."""
    return Pair(body.select(condition, yes.high, no.high), body.select(condition, yes.low, no.low))


def fast_sum(high: Value, low: Value) -> Pair:
    """The sum and its rounding error, exact where |high| >= |low| or high is 0."""
    total = high + low
    return Pair(total, (high - total) + low)


def two_sum(x: Value, y: Value) -> Pair:
    """The sum and its rounding error, exact."""
    total = x + y
    part = total - x
    return Pair(total, (x - (total - part)) + (y - part))


def add(x: Pair, y: Pair) -> Pair:
    """The sum of two pairs; where they cancel the error is below 2**-100 of the operands."""
    first = two_sum(x.high, y.high)
    return fast_sum(first.high, first.low + (x.low + y.low))


def product(x: Value, y: Value) -> Pair:
    """The product and its rounding error, exact unless it underflows."""
    rounded = x * y
    return Pair(rounded, x.body.fma(x, y, -rounded))


def multiply(x: Pair, y: Pair) -> Pair:
    """The product of two pairs."""
    body = x.high.body
    first = product(x.high, y.high)
    return fast_sum(first.high, body.fma(x.high, y.low, body.fma(x.low, y.high, first.low)))


def scale(x: Pair, factor: Value) -> Pair:
    """A pair times a number."""
    first = product(x.high, factor)
    return fast_sum(first.high, x.high.body.fma(x.low, factor, first.low))


def divide(x: Pair, y: Pair) -> Pair:
    """The quotient rounded, and the rest divided once more."""
    body = x.high.body
    quotient = x.high / y.high
    rest = body.fma(-quotient, y.high, x.high) + (x.low - quotient * y.low)
    return Pair(quotient, rest / y.high)


OCTAVE_TERMS = 13  # the constant in two parts, and 11 coefficients


def octaves(body: Body, name: str, table: Sequence[float], bounds: tuple[float, float], x: Value, rest: Value) -> Pair:
    """A function of x + rest between two powers of two, by a polynomial around the centre of each eighth of an octave.

    Beyond the bounds x is moved to them; a NaN stays in the argument.
    """
    least, most = bounds
    below = most * (1 - 2.0**-53)
    inside = body.select(x.less(least), least, body.select(x.less(below), x, below))
    bits = body.bits(inside)
    first = int.from_bytes(struct.pack("<d", least), "little") >> 49
    start = ((bits >> 49) - first) * OCTAVE_TERMS
    centre = body.from_bits((bits & -(1 << 49)) | (1 << 48))
    d = (inside - centre) + body.select(inside.equal(x), rest, 0.0)
    d = body.select(x.compare("uno", x), x, d)
    offsets = [start, *(start + i for i in range(1, OCTAVE_TERMS))]
    high, low, slope, *others = (body.load(name, table, "double", offset) for offset in offsets)
    change = body.estrin(d * d, [body.fma(slope, d, low), *body.pairs(d, others)])
    return fast_sum(high, change)
