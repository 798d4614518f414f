"""exp, expm1, tanh, sigmoid, log, log1p, sin and cos of float32 in float32: a vector holds twice as many of them.

    shifted = fma(x, log2(e), 1.5 * 2**23)      n = shifted - 1.5 * 2**23      r = fma(-n, ln2_rest, fma(-n, ln2, x))

The methods are those of `elementary_exponential` and `elementary_logarithm` with 24 bits: arguments are reduced by fma
without error, powers of two are built as bits (their bias of 127 is part of the number that is added to round), and
2**n is applied in two factors, so that overflow and subnormal results round once. Arguments beyond the range are moved
to its bounds first, by comparisons that let NaN pass. Logarithms have one polynomial for the whole of m instead of a
table, which a vector would gather from. sin and cos are as in `elementary_trigonometric`, up to |x| = 2**16; beyond,
its cold functions reduce in double. All are within 2 ulp; `tests/test_elementary.py` compares with double.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass

from pullback.codegen import elementary_coefficients as c
from pullback.codegen.elementary_text import Body, Builder, Value
from pullback.codegen.elementary_trigonometric import reduce_small, sine_of, unless_large

__all__ = ["SINGLE"]

SINGLE: dict[str, Builder] = {}
"""Builders of float32 instances, by name; a function without one is computed in double."""

SHIFT = 1.5 * 2.0**23
LARGEST, LEAST = 89.0, -104.0  # e**x is inf above, 0 below
MANTISSA, ROOT_HALF_BITS, ONE_BITS = 0x7FFFFF, 0x3F3504F3, 0x3F800000


def _rounded(number: float) -> float:
    return float(struct.unpack("<f", struct.pack("<f", number))[0])


LN2 = _rounded(c.LN2)
LN2_REST = c.LN2 - LN2 + c.LN2_REST
_HALF_PI_1 = _rounded(c.HALF_PI)
_HALF_PI_2 = _rounded(c.HALF_PI - _HALF_PI_1)
HALF_PI = (_HALF_PI_1, _HALF_PI_2, c.HALF_PI - _HALF_PI_1 - _HALF_PI_2 + c.HALF_PI_2)
LARGEST_ANGLE = 2.0**16
VECTOR_WIDTHS = (8, 16)


def _enter(name: str, build: Builder) -> None:
    assert name not in SINGLE, name
    SINGLE[name] = build


def _at_most(body: Body, x: Value, bound: float) -> Value:
    return body.select(x.greater(bound), bound, x)


def _at_least(body: Body, x: Value, bound: float) -> Value:
    return body.select(x.less(bound), bound, x)


@dataclass(frozen=True, slots=True)
class Reduced:
    """x = n ln(2) + r, with n + bias in the low bits of `bits`, and p = e**r - 1 - r."""

    bits: Value
    r: Value
    p: Value

    @property
    def less_one(self) -> Value:
        """e**r - 1"""
        return self.r + self.p


def _reduced(body: Body, x: Value, bias: int) -> Reduced:
    shift = SHIFT + bias
    shifted = body.fma(x, c.LOG2_E, shift)
    minus_n = shift - shifted
    r = body.fma(minus_n, LN2_REST, body.fma(minus_n, LN2, x))
    square = r * r
    return Reduced(body.bits(shifted), r, square * body.estrin(r, c.EXP_SINGLE))


def _power(body: Body, biased: Value) -> Value:
    """2**n from n + 127 in the low bits."""
    return body.from_bits(biased << 23)


def _halves(bits: Value) -> tuple[Value, Value]:
    """n + 254 as the sum of two biased exponents of about half."""
    half = bits >> 1
    return half, bits - half


def exponential(body: Body, x: Value) -> Value:
    """e**x"""
    bounded = _at_least(body, _at_most(body, x, LARGEST), LEAST)
    reduced = _reduced(body, bounded, 254)
    first, second = (_power(body, n) for n in _halves(reduced.bits))
    return body.fma(reduced.less_one, first, first) * second


def _expm1(body: Body, x: Value) -> Value:
    """2**n1 (2**n2 e**r - 2**-n1): the difference is summed with the larger term first."""
    bounded = _at_least(body, _at_most(body, x, LARGEST), -20.0)
    reduced = _reduced(body, bounded, 254)
    n1, n2 = _halves(reduced.bits)
    first = _power(body, n1)
    inverse = body.from_bits((body.constant("i32", 254) - n1) << 23)
    difference = _scaled_less(body, reduced, _power(body, n2), inverse)
    return body.copysign(difference * first, x)


def _scaled_less(body: Body, reduced: Reduced, scale: Value, less: Value | float) -> Value:
    """scale * e**r - less, for less at most scale, or scale small."""
    high = body.fma(scale, reduced.r, scale - less)
    return body.fma(scale, reduced.p, high)


def _tanh(body: Body, x: Value) -> Value:
    """expm1(2|x|) / (expm1(2|x|) + 2); from 10 on it is 1."""
    magnitude = _at_most(body, body.fabs(x), 10.0)
    reduced = _reduced(body, magnitude + magnitude, 127)
    numerator = _scaled_less(body, reduced, _power(body, reduced.bits), 1.0)
    return body.copysign(numerator / (numerator + 2.0), x)


def _sigmoid(body: Body, x: Value) -> Value:
    """1 / (1 + e**-x), by z = e**-|x| as 1 / (1 + z) or z / (1 + z)."""
    z = exponential(body, -body.fabs(x))
    return body.select(x.less(0.0), z, 1.0) / (z + 1.0)


# ------------------------------------------------------------------------------------------------------ logarithms


@dataclass(frozen=True, slots=True)
class Split:
    """x = 2**k (1 + f) with sqrt(1/2) <= 1 + f < sqrt(2) or so; k as an integer and as a number."""

    exponent: Value
    k: Value
    f: Value


def _split(body: Body, x: Value) -> Split:
    """Of a positive finite normal number."""
    moved = body.bits(x) + (ONE_BITS - ROOT_HALF_BITS)
    exponent = (moved >> 23) - 127
    f = body.from_bits((moved & MANTISSA) + ROOT_HALF_BITS) - 1.0
    return Split(exponent, body.convert("sitofp", exponent, "float"), f)


def _sum(body: Body, k: Value, f: Value) -> Value:
    """k ln(2) + log(1 + f), the small parts first."""
    square = f * f
    tail = square * body.fma(f, body.estrin(f, c.LOG_WIDE), -0.5)
    return body.fma(k, LN2, f + body.fma(k, LN2_REST, tail))


def _finish(body: Body, x: Value, result: Value, pole: float) -> Value:
    """inf and NaN for themselves, -inf at the pole and NaN below."""
    bounded = body.select(x.less(math.inf), result, x)
    outside = body.select(x.equal(pole), body.constant("float", -math.inf), math.nan)
    return body.select(x.compare("ugt", pole), bounded, outside)


def _log(body: Body, x: Value) -> Value:
    tiny = x.less(2.0**-126)
    parts = _split(body, body.select(tiny, x * 2.0**23, x))
    k = body.select(tiny, parts.k - 23.0, parts.k)
    return _finish(body, x, _sum(body, k, parts.f), 0.0)


def _log1p(body: Body, x: Value) -> Value:
    """The rounding error of 1 + x joins f; where it is 0, f is x."""
    u = x + 1.0
    part = u - x
    error = (x - (u - part)) + (1.0 - part)
    parts = _split(body, u)
    scale = body.from_bits((body.constant("i32", 127) - parts.exponent) << 23)
    f = parts.f + body.select(parts.k.less(100.0), error * scale, 0.0)
    return _finish(body, x, body.copysign(_sum(body, parts.k, f), x), -1.0)


# ---------------------------------------------------------------------------------------------------------- angles


def _circular(body: Body, name: str, x: Value) -> Value:
    value = sine_of(body, reduce_small(body, x, SHIFT, HALF_PI), 1 if name == "cos" else 0)
    if name == "sin":
        value = body.select(x.equal(0.0), x, value)  # keeps the sign of zero
    return unless_large(body, x, LARGEST_ANGLE, value, f"pb.{name}.far", VECTOR_WIDTHS)


def _sin(body: Body, x: Value) -> Value:
    return _circular(body, "sin", x)


def _cos(body: Body, x: Value) -> Value:
    return _circular(body, "cos", x)


for _name, _build in {
    "exp": exponential, "expm1": _expm1, "tanh": _tanh, "sigmoid": _sigmoid, "log": _log, "log1p": _log1p,
    "sin": _sin, "cos": _cos,
}.items():  # fmt: skip
    _enter(_name, _build)
