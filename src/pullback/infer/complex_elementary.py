"""Elementary functions of complex numbers, as rules of the real and imaginary part.

    exp(a + bi)        exp(a) at the angle b
    arcsin(z)          atan2(a, Re(r s)), asinh(Im(conj(r) s)) with the roots r, s of 1 - z, 1 + z

The inverse functions are those of Kahan, Branch cuts for complex elementary functions, 1987: their cuts are NumPy's,
and nothing is lost by cancellation near them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from pullback.infer.complexes import Rule, quotient
from pullback.ir.node import Value
from pullback.prims.base import Emitter
from pullback.types import F64

__all__ = ["PYTHON_NAMES", "RULES", "both", "turned"]

Pair = tuple[Value, Value]


def both(p: Sequence[Value | None]) -> Pair:
    """Two parts that are there."""
    a, b = p
    assert a is not None and b is not None
    return a, b


def _times(e: Emitter, size: Value, factor: Value) -> Value:
    """A product that is 0 where the factor is, also if the size has overflowed."""
    lost = e("and_", e("isinf", size), e("eq", factor, e.like(0.0, factor)))
    return e("select", lost, factor, e("mul", size, factor))


def turned(e: Emitter, length: Value, angle: Value) -> Pair:
    """The number of that length at that angle."""
    return _times(e, length, e("cos", angle)), _times(e, length, e("sin", angle))


def _exp(e: Emitter, p: Sequence[Value | None]) -> Pair:
    a, b = both(p)
    return turned(e, e("exp", a), b)


def _log(e: Emitter, p: Sequence[Value | None]) -> Pair:
    a, b = both(p)
    one, turns = e.like(1.0, a), e("lt", e("abs", a), e("abs", b))
    x, y = e("abs", e("select", turns, b, a)), e("select", turns, a, b)
    beyond = e("add", e("mul", e("sub", x, one), e("add", x, one)), e("mul", y, y))
    return _log_of_size(e, e("hypot", a, b), beyond), e("atan2", b, a)


def _log_of_size(e: Emitter, size: Value, beyond: Value) -> Value:
    """log(size), near 1 by log1p as in CPython; `beyond` is the square of the size less 1."""
    near = e("and_", e("ge", size, e.like(0.71, size)), e("le", size, e.like(1.73, size)))
    inside = e("mul", e.like(0.5, size), e("log1p", e("select", near, beyond, e.like(1.0, size))))
    return e("select", near, inside, e("log", size))


def _sqrt(e: Emitter, p: Sequence[Value | None]) -> Pair:
    """The root with a real part that is not negative, as CPython computes it, without cancellation.

    No absolute values: on the axes they would hide a derivative.
    """
    a, b = both(p)
    zero, half = e.like(0.0, a), e.like(0.5, a)
    nothing = e("and_", e("eq", a, zero), e("eq", b, zero))
    size = e("hypot", e("select", nothing, e.like(1.0, a), a), b)
    right, sign = e("ge", a, zero), e("copysign", e.like(1.0, a), b)
    s = e("sqrt", e("mul", half, e("add", e("select", right, a, e("neg", a)), size)))
    d = e("div", e("mul", half, b), s)
    re, im = e("select", right, s, e("mul", d, sign)), e("select", right, d, e("mul", s, sign))
    return e("select", nothing, zero, re), e("select", nothing, b, im)


def _sin(e: Emitter, p: Sequence[Value | None]) -> Pair:
    a, b = both(p)
    return _times(e, e("cosh", b), e("sin", a)), _times(e, e("sinh", b), e("cos", a))


def _cos(e: Emitter, p: Sequence[Value | None]) -> Pair:
    a, b = both(p)
    return _times(e, e("cosh", b), e("cos", a)), e("neg", _times(e, e("sinh", b), e("sin", a)))


def _sinh(e: Emitter, p: Sequence[Value | None]) -> Pair:
    a, b = both(p)
    return _times(e, e("sinh", a), e("cos", b)), _times(e, e("cosh", a), e("sin", b))


def _cosh(e: Emitter, p: Sequence[Value | None]) -> Pair:
    a, b = both(p)
    return _times(e, e("cosh", a), e("cos", b)), _times(e, e("sinh", a), e("sin", b))


def _tanh(e: Emitter, p: Sequence[Value | None]) -> Pair:
    """As CPython: where cosh would overflow, of the second order in exp(-|a|)."""
    a, b = both(p)
    one, far = e.like(1.0, a), e("gt", e("abs", a), e.like(350.0 if a.type == F64 else 40.0, a))
    near = e("select", far, one, a)
    t, u, s = e("tanh", near), e("tan", b), e("div", one, e("cosh", near))
    product = e("mul", t, u)
    below = e("add", one, e("mul", product, product))
    re = e("div", e("mul", t, e("add", one, e("mul", u, u))), below)
    im = e("mul", e("mul", e("div", u, below), s), s)
    tail = e("exp", e("mul", e.like(-2.0, a), e("abs", a)))
    distant = e("mul", e("mul", e.like(4.0, a), e("mul", e("sin", b), e("cos", b))), tail)
    return e("select", far, e("copysign", one, a), re), e("select", far, distant, im)


def _by_quarter(e: Emitter, rule: Rule, p: Sequence[Value | None]) -> Pair:
    """-i f(i z)"""
    a, b = both(p)
    re, im = rule(e, [e("neg", b), a])
    return im, e("neg", re)


def _tan(e: Emitter, p: Sequence[Value | None]) -> Pair:
    return _by_quarter(e, _tanh, p)


def _roots(e: Emitter, a: Value, b: Value) -> tuple[Pair, Pair]:
    """The roots of 1 - z and of 1 + z."""
    one = e.like(1.0, a)
    return _sqrt(e, [e("sub", one, a), e("neg", b)]), _sqrt(e, [e("add", one, a), b])


def _real_of_product(e: Emitter, x: Pair, y: Pair) -> Value:
    return e("sub", e("mul", x[0], y[0]), e("mul", x[1], y[1]))


def _imaginary_of_conjugate(e: Emitter, x: Pair, y: Pair) -> Value:
    """Im(conj(x) y)"""
    return e("sub", e("mul", x[0], y[1]), e("mul", x[1], y[0]))


def _arcsin(e: Emitter, p: Sequence[Value | None]) -> Pair:
    a, b = both(p)
    r, s = _roots(e, a, b)
    return e("atan2", a, _real_of_product(e, r, s)), e("asinh", _imaginary_of_conjugate(e, r, s))


def _arccos(e: Emitter, p: Sequence[Value | None]) -> Pair:
    a, b = both(p)
    r, s = _roots(e, a, b)
    return e("mul", e.like(2.0, a), e("atan2", r[0], s[0])), e("asinh", _imaginary_of_conjugate(e, s, r))


def _arcsinh(e: Emitter, p: Sequence[Value | None]) -> Pair:
    return _by_quarter(e, _arcsin, p)


def _arccosh(e: Emitter, p: Sequence[Value | None]) -> Pair:
    a, b = both(p)
    one = e.like(1.0, a)
    r, s = _sqrt(e, [e("sub", a, one), b]), _sqrt(e, [e("add", a, one), b])
    size = e("asinh", e("add", e("mul", r[0], s[0]), e("mul", r[1], s[1])))
    return size, e("mul", e.like(2.0, a), e("atan2", r[1], s[0]))


def _arctanh(e: Emitter, p: Sequence[Value | None]) -> Pair:
    """By log1p on the side of the pole at 1; close to it as a difference of logarithms."""
    a, b = both(p)
    one, half, square = e.like(1.0, a), e.like(0.5, a), e("mul", b, b)
    side = e("select", e("lt", a, e.like(0.0, a)), e.like(-1.0, a), one)
    x = e("mul", a, side)
    less, more = e("sub", one, x), e("add", one, x)
    below = e("add", e("mul", less, less), square)
    close = e("lt", below, e.like(1e-30, a))
    ratio = e("div", e("mul", e.like(4.0, a), x), e("select", close, one, below))
    gap = e("select", close, e("hypot", less, b), one)
    steep = e("mul", half, e("sub", e("log", e("hypot", more, b)), e("log", gap)))
    size = e("select", close, steep, e("mul", e.like(0.25, a), e("log1p", ratio)))
    angle = e("atan2", e("mul", e.like(2.0, a), b), e("sub", e("mul", less, more), square))
    return e("mul", side, size), e("mul", half, angle)


def _arctan(e: Emitter, p: Sequence[Value | None]) -> Pair:
    return _by_quarter(e, _arctanh, p)


def _log_to(base: float) -> Rule:
    def rule(e: Emitter, p: Sequence[Value | None]) -> Pair:
        re, im = _log(e, p)
        factor = e.like(1.0 / math.log(base), re)
        return e("mul", factor, re), e("mul", factor, im)

    return rule


def _exp2(e: Emitter, p: Sequence[Value | None]) -> Pair:
    a, b = both(p)
    return turned(e, e("exp2", a), e("mul", e.like(math.log(2.0), b), b))


def _expm1(e: Emitter, p: Sequence[Value | None]) -> Pair:
    """expm1(a) cos(b) - 2 sin(b/2)**2, which does not cancel."""
    a, b = both(p)
    half = e("sin", e("mul", e.like(0.5, b), b))
    re = e("sub", e("mul", e("expm1", a), e("cos", b)), e("mul", e.like(2.0, a), e("mul", half, half)))
    return re, e("mul", e("exp", a), e("sin", b))


def _log1p(e: Emitter, p: Sequence[Value | None]) -> Pair:
    a, b = both(p)
    x, beyond = e("add", e.like(1.0, a), a), e("mul", a, e("add", a, e.like(2.0, a)))
    return _log_of_size(e, e("hypot", x, b), e("add", beyond, e("mul", b, b))), e("atan2", b, x)


def _reciprocal(e: Emitter, p: Sequence[Value | None]) -> Pair:
    a, b = both(p)
    return quotient(e, [e.like(1.0, a), None, a, b])


def _sign(e: Emitter, p: Sequence[Value | None]) -> Pair:
    """z / |z|, and 0 for 0."""
    a, b = both(p)
    zero = e.like(0.0, a)
    nothing = e("and_", e("eq", a, zero), e("eq", b, zero))
    size = e("select", nothing, e.like(1.0, a), e("hypot", a, b))
    return e("div", a, size), e("div", b, size)


def _rint(e: Emitter, p: Sequence[Value | None]) -> Pair:
    a, b = both(p)
    return e("rint", a), e("rint", b)


PYTHON_NAMES = {
    "exp": "exp", "log": "log", "log10": "log10", "sqrt": "sqrt", "sin": "sin", "cos": "cos", "tan": "tan",
    "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "asin": "arcsin", "acos": "arccos", "atan": "arctan",
    "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh",
}  # fmt: skip
"""The functions of cmath by the names of the rules."""

RULES: dict[str, Rule] = {
    "exp": _exp, "log": _log, "sqrt": _sqrt, "sin": _sin, "cos": _cos, "tan": _tan, "sinh": _sinh, "cosh": _cosh,
    "tanh": _tanh, "arcsin": _arcsin, "arccos": _arccos, "arctan": _arctan, "arcsinh": _arcsinh, "arccosh": _arccosh,
    "arctanh": _arctanh, "asin": _arcsin, "acos": _arccos, "atan": _arctan, "asinh": _arcsinh, "acosh": _arccosh,
    "atanh": _arctanh, "log2": _log_to(2.0), "log10": _log_to(10.0), "exp2": _exp2, "expm1": _expm1, "log1p": _log1p,
    "reciprocal": _reciprocal, "sign": _sign, "rint": _rint,
}  # fmt: skip
"""By NumPy's names."""
