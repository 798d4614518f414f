"""The modified Bessel functions i0, i1 and, times exp(-|x|), i0e, i1e.

Below 1/2 polynomials in x**2; between 1/2 and 32 one of degree 11 of the scaled function, which falls slowly, for each
eighth of an octave; above P(1/x)/sqrt(x). Values are pairs until the exponential has been applied.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from pullback.codegen import elementary_coefficients as c
from pullback.codegen.elementary_bessel_tables import I0_TABLE, I1_TABLE
from pullback.codegen.elementary_exponential import exponential_parts, power_of_two, two_scales
from pullback.codegen.elementary_pairs import Pair, divide, fast_sum, multiply, octaves, select_pair
from pullback.codegen.elementary_text import Body, Recipes, Value, recipe

RECIPES: Recipes = {}
SMALL, FAR = 0.5, 32.0
LARGEST = 714.0  # above it i0 and i1 are inf


@dataclass(frozen=True, slots=True)
class Order:
    """0 or 1, and what approximates the function: near 0, between, and far away."""

    order: int
    near: tuple[float, ...]
    table: tuple[float, ...]
    far: tuple[float, ...]


ZERO, ONE = Order(0, c.I0_NEAR, I0_TABLE, c.I_FAR_0), Order(1, c.I1_NEAR, I1_TABLE, c.I_FAR_1)


def _near(body: Body, order: Order, x: Value) -> Pair:
    """I(x) for 0 <= x < 1/2"""
    z = x * x
    tail = z * body.estrin(z, order.near)
    return fast_sum(body.constant("double", 1.0), tail) if order.order == 0 else fast_sum(x * 0.5, x * tail)


def _scaled(body: Body, order: Order, x: Value) -> Pair:
    """exp(-x) I(x) for x >= 1/2"""
    zero = body.constant("double", 0.0)
    between = octaves(body, f"pb.table.i{order.order}", order.table, (SMALL, FAR), x, zero)
    inverse = 1.0 / x
    first, *others = order.far
    series = body.fma(inverse, body.estrin(inverse, others), c.INVERSE_ROOT_TWO_PI_REST)
    root = body.sqrt(x)
    root_rest = body.fma(-root, root, x) / (root + root)
    far = divide(fast_sum(body.constant("double", first), series), Pair(root, root_rest))
    far = Pair(body.select(x.less(math.inf), far.high, 0.0), body.select(x.less(math.inf), far.low, 0.0))
    return select_pair(body, x.less(FAR), between, far)


def _value(body: Body, order: Order, x: Value) -> Value:
    """Of the function itself."""
    size = body.fabs(x)
    parts, bits = exponential_parts(body, size, body.constant("double", 0.0))
    first, last = (power_of_two(body, n) for n in two_scales(body, bits))
    product = multiply(Pair(parts.high * first, parts.low * first), _scaled(body, order, size)).total() * last
    value = body.select(size.less(SMALL), _near(body, order, size).total(), product)
    value = body.select(size.greater(LARGEST), math.inf, value)
    return _finish(body, order, x, body.select(size.less(math.inf), value, math.nan))  # as SciPy has it


def _scaled_value(body: Body, order: Order, x: Value) -> Value:
    size = body.fabs(x)
    parts, bits = exponential_parts(body, -body.select(size.less(SMALL), size, 0.0), body.constant("double", 0.0))
    small = multiply(parts, _near(body, order, size)).total() * power_of_two(body, bits)
    return _finish(body, order, x, body.select(size.less(SMALL), small, _scaled(body, order, size).total()))


def _finish(body: Body, order: Order, x: Value, value: Value) -> Value:
    value = body.select(x.compare("uno", x), x, value)
    return body.copysign(value, x) if order.order else value


@recipe(RECIPES, "i0")
def _i0(body: Body, x: Value) -> Value:
    return _value(body, ZERO, x)


@recipe(RECIPES, "i1")
def _i1(body: Body, x: Value) -> Value:
    return _value(body, ONE, x)


@recipe(RECIPES, "i0e")
def _i0e(body: Body, x: Value) -> Value:
    return _scaled_value(body, ZERO, x)


@recipe(RECIPES, "i1e")
def _i1e(body: Body, x: Value) -> Value:
    return _scaled_value(body, ONE, x)
