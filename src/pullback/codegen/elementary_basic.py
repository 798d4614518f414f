"""Rounding, signs, predicates, sqrt, hypot, fmod and nextafter: the functions that are exact or a few instructions.

`isnan`, `isinf` and `isfinite` return i1; all others return the dtype of their arguments. `sign` is NumPy's (0 for both
zeros, NaN for NaN). `fmod` takes the quotient's integer part off by one fma, which is exact while the quotient is below
2**53, and leaves the rest to the C library. `hypot` scales by a power of two, and rounds thrice (below 1 ulp).
"""

from __future__ import annotations

import math

from pullback.codegen.elementary_text import Body, Recipes, Value, recipe

RECIPES: Recipes = {}


def _intrinsic(name: str, intrinsic: str) -> None:
    @recipe(RECIPES, name, native=True)
    def build(body: Body, x: Value) -> Value:
        return body.intrinsic(intrinsic, x)


for _name, _target in {
    "fabs": "fabs", "floor": "floor", "ceil": "ceil", "trunc": "trunc", "rint": "rint", "sqrt": "sqrt",
}.items():  # fmt: skip
    _intrinsic(_name, _target)


@recipe(RECIPES, "copysign", ("x", "x"), native=True)
def _copysign(body: Body, magnitude: Value, sign: Value) -> Value:
    return body.copysign(magnitude, sign)


@recipe(RECIPES, "sign", native=True)
def _sign(body: Body, x: Value) -> Value:
    zero, one, minus = (body.constant(x.type, number) for number in (0.0, 1.0, -1.0))
    unit = body.select(x.greater(0.0), one, body.select(x.less(0.0), minus, x))
    return body.select(x.equal(0.0), zero, unit)


@recipe(RECIPES, "isnan", result="i1", native=True)
def _isnan(body: Body, x: Value) -> Value:
    return x.compare("uno", x)


@recipe(RECIPES, "isinf", result="i1", native=True)
def _isinf(body: Body, x: Value) -> Value:
    return body.fabs(x).equal(math.inf)


@recipe(RECIPES, "isfinite", result="i1", native=True)
def _isfinite(body: Body, x: Value) -> Value:
    return body.fabs(x).less(math.inf)


@recipe(RECIPES, "nextafter", ("x", "x"), native=True)
def _nextafter(body: Body, x: Value, toward: Value) -> Value:
    """The neighbour of x in the direction of `toward`: its bits, as an integer, plus or minus one."""
    bits = body.bits(x)
    one = body.constant(bits.type, 1)
    outward = x.less(toward).compare("eq", x.greater(0.0))
    moved = body.from_bits(body.select(outward, bits + one, bits - one))
    least = body.copysign(body.from_bits(one), toward)
    result = body.select(x.equal(0.0), least, moved)
    result = body.select(x.equal(toward), toward, result)
    return body.select(x.compare("uno", toward), x + toward, result)


@recipe(RECIPES, "hypot", ("x", "x"))
def _hypot(body: Body, x: Value, y: Value) -> Value:
    a, b = body.fabs(x), body.fabs(y)
    infinite = a.equal(math.inf) | b.equal(math.inf)
    if body.single:
        return body.select(infinite, math.inf, body.sqrt(body.fma(a, a, b * b)))
    # By bits: as floats the choice goes through mask registers, whose false dependences make scalar loops wait.
    bits = body.intrinsic("smax", body.bits(a), body.bits(b))
    large, small = bits.compare("sgt", (1023 + 500) << 52), bits.compare("slt", (1023 - 400) << 52)
    one, change = 1023 << 52, body.constant("i64", 600 << 52)
    step = body.select(large, body.constant("i64", -(600 << 52)), body.select(small, change, 0))
    scale, back = body.from_bits(step + one), body.from_bits(one - step)
    a, b = a * scale, b * scale
    return body.select(infinite, math.inf, body.sqrt(body.fma(a, a, b * b)) * back)


@recipe(RECIPES, "fmod", ("x", "x"))
def _fmod(body: Body, x: Value, y: Value) -> Value:
    a, b = body.fabs(x), body.fabs(y)
    quotient = body.trunc(a / b)
    # The quotient may have been rounded up to the next integer: then the remainder is negative, and one b is put back.
    remainder = body.fma(-quotient, b, a)
    remainder = body.select(remainder.less(0.0), remainder + b, remainder)
    usual = quotient.less(2.0**53) & b.less(math.inf)
    return body.otherwise_call(usual, body.copysign(remainder, x), "pb.fmod.any", x, y)


@recipe(RECIPES, "remainder", ("x", "x"))
def _remainder(body: Body, x: Value, y: Value) -> Value:
    return body.external("remainder", "double", x, y)
