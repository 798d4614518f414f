"""Elementary functions: one row each, with the derivative as partials.

    sin:  partial cos(x)          tanh: partial 1 - y*y          sqrt: partial 0.5 / y (strong: infinite at 0)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pullback.ir.node import Op, Value
from pullback.prims.base import NOT_DIFFERENTIABLE, Attrs, Elementary, Emitter, Partial, Prim, PublicName, register
from pullback.prims.scalar import FLOATS, same, to_bool, ufunc
from pullback.types import BOOL, I64, DType, Machine, Scalar

Rule = Callable[[Emitter, Value, Value], Value]  # (emit, operand, result) -> partial
LOG2, LOG10 = math.log(2.0), math.log(10.0)


def _quotient(e: Emitter, numerator: float, denominator: Value) -> Value:
    return e("div", e.like(numerator, denominator), denominator)


def _plus(e: Emitter, x: Value, constant: float) -> Value:
    return e("add", x, e.like(constant, x))


def _scale(e: Emitter, constant: float, x: Value) -> Value:
    return e("mul", e.like(constant, x), x)


def _square(e: Emitter, x: Value) -> Value:
    return e("mul", x, x)


def _one_minus_square(e: Emitter, x: Value) -> Value:
    return e("sub", e.like(1.0, x), _square(e, x))


def _one_plus_square(e: Emitter, x: Value) -> Value:
    return e("add", e.like(1.0, x), _square(e, x))


def _gaussian(e: Emitter, x: Value, sign: float) -> Value:
    return _scale(e, sign * 2.0 / math.sqrt(math.pi), e("exp", e("neg", _square(e, x))))


def _factored_root(e: Emitter, x: Value, sign: float) -> Value:
    """sqrt of 1 - x*x (sign -1) or x*x - 1 (sign +1), factored against cancellation near 1."""
    one = e.like(1.0, x)
    first = e("sub", one, x) if sign < 0 else e("sub", x, one)
    return e("sqrt", e("mul", first, e("add", x, one)))


def _unary(
    name: str, impl: Callable[..., Any], rule: Rule | str, *, strong: bool = False, math_name: str | None = "",
    numpy_name: str | None = "", overflow: bool = False, samples: str = "real", doc: str = "",
    lower: str | Elementary | None = None, scipy: str | None = None,
) -> Prim:  # fmt: skip
    """A row of one float operand.  Public names default to the primitive's own; None leaves one out."""
    public = [PublicName(f"scipy.special.{scipy}", "ufunc")] if scipy else []
    if math_name is not None:
        public.append(PublicName(f"math.{math_name or name}", "math", overflow))
    if numpy_name is not None:
        public += ufunc(numpy_name or name)

    def partials(e: Emitter, op: Op) -> Sequence[Partial | float | None]:
        assert not isinstance(rule, str)
        return (Partial(rule(e, op.operands[0], op.result), strong),)

    return Prim(
        name=name, doc=doc or f"{name}(x)", infer=same(FLOATS, 1), impl=impl,
        derivative=rule if isinstance(rule, str) else partials, lower={"float": lower or Elementary(name)},
        public=tuple(public), samples=samples,
    )  # fmt: skip


def _by_math(function: Callable[[float], float]) -> Callable[[Any], Any]:
    """A NumPy-scalar implementation from one of `math`, with NumPy's nan and inf in place of exceptions."""

    def impl(x: Any) -> Any:
        try:
            return type(x)(function(float(x)))
        except ValueError:
            return type(x)(np.nan)
        except OverflowError:
            return type(x)(np.inf)

    return impl


def _gamma_impl(x: Any) -> Any:
    if x == 0:
        return type(x)(math.copysign(math.inf, x))
    return _by_math(math.gamma)(x)


def _lgamma_impl(x: Any) -> Any:
    if np.isfinite(x) and x <= 0 and x == np.floor(x):
        return type(x)(np.inf)
    return _by_math(math.lgamma)(x)


def _polygamma_impl(n: Any, x: Any) -> Any:
    from scipy import special

    return type(x)(special.psi(float(x)) if n == 0 else special.polygamma(int(n), float(x)))


def _polygamma_infer(operands: Sequence[Machine], attrs: Attrs) -> tuple[Machine, ...]:
    if len(operands) == 2 and operands[0] == I64:
        x = operands[1]
        if isinstance(x, Scalar) and x.dtype in FLOATS:
            return (x,)
    raise TypeError("polygamma takes an int order and a float")


def _polygamma(e: Emitter, op: Op) -> Sequence[Partial | float | None]:
    n, x = op.operands
    return (None, Partial(e("polygamma", e("add", n, e.integer(1)), x), strong=True))


def _digamma(e: Emitter, x: Value, y: Value) -> Value:
    return e("polygamma", e.integer(0), x)


UNARY = (
    _unary("exp", np.exp, lambda e, x, y: y, strong=True, overflow=True),
    _unary("exp2", np.exp2, lambda e, x, y: _scale(e, LOG2, y), strong=True, overflow=True, scipy="exp2"),
    _unary("expm1", np.expm1, lambda e, x, y: _plus(e, y, 1.0), strong=True, overflow=True, scipy="expm1"),
    _unary("log", np.log, lambda e, x, y: _quotient(e, 1.0, x), strong=True, samples="positive", math_name=None),
    _unary("log2", np.log2, lambda e, x, y: _quotient(e, 1.0 / LOG2, x), strong=True, samples="positive"),
    _unary("log10", np.log10, lambda e, x, y: _quotient(e, 1.0 / LOG10, x), strong=True, samples="positive"),
    _unary("log1p", np.log1p, lambda e, x, y: _quotient(e, 1.0, _plus(e, x, 1.0)), strong=True, samples="positive",
           scipy="log1p"),
    _unary("sqrt", np.sqrt, lambda e, x, y: _quotient(e, 0.5, y), strong=True, samples="positive",
           lower="call {T} @llvm.sqrt.{t}({T} {0})"),
    _unary("cbrt", np.cbrt, lambda e, x, y: _quotient(e, 1.0 / 3.0, _square(e, y)), strong=True, samples="positive",
           scipy="cbrt"),
    _unary("sin", np.sin, lambda e, x, y: e("cos", x)),
    _unary("cos", np.cos, lambda e, x, y: e("neg", e("sin", x))),
    _unary("tan", np.tan, lambda e, x, y: _one_plus_square(e, y), strong=True),
    _unary("asin", np.arcsin, lambda e, x, y: _quotient(e, 1.0, _factored_root(e, x, -1.0)), strong=True,
           numpy_name="arcsin", samples="unit"),
    _unary("acos", np.arccos, lambda e, x, y: _quotient(e, -1.0, _factored_root(e, x, -1.0)), strong=True,
           numpy_name="arccos", samples="unit"),
    _unary("atan", np.arctan, lambda e, x, y: _quotient(e, 1.0, _one_plus_square(e, x)), numpy_name="arctan"),
    _unary("sinh", np.sinh, lambda e, x, y: e("cosh", x), strong=True, overflow=True),
    _unary("cosh", np.cosh, lambda e, x, y: e("sinh", x), strong=True, overflow=True),
    _unary("tanh", np.tanh, lambda e, x, y: _one_minus_square(e, y)),
    _unary("asinh", np.arcsinh, lambda e, x, y: _quotient(e, 1.0, e("hypot", x, e.like(1.0, x))), numpy_name="arcsinh"),
    _unary("acosh", np.arccosh, lambda e, x, y: _quotient(e, 1.0, _factored_root(e, x, 1.0)), strong=True,
           numpy_name="arccosh", samples="above one"),
    _unary("atanh", np.arctanh, lambda e, x, y: _quotient(e, 1.0, _one_minus_square(e, x)), strong=True,
           numpy_name="arctanh", samples="unit"),
    _unary("erf", _by_math(math.erf), lambda e, x, y: _gaussian(e, x, 1.0), numpy_name=None,
           scipy="erf"),
    _unary("erfc", _by_math(math.erfc), lambda e, x, y: _gaussian(e, x, -1.0), numpy_name=None,
           scipy="erfc"),
    _unary("gamma", _gamma_impl, lambda e, x, y: e("mul", y, _digamma(e, x, y)), strong=True, overflow=True,
           numpy_name=None, samples="positive", scipy="gamma"),
    _unary("lgamma", _lgamma_impl, _digamma, strong=True, overflow=True, numpy_name=None, samples="positive"),
    _unary("floor", np.floor, NOT_DIFFERENTIABLE, math_name=None, lower="call {T} @llvm.floor.{t}({T} {0})"),
    _unary("ceil", np.ceil, NOT_DIFFERENTIABLE, math_name=None, lower="call {T} @llvm.ceil.{t}({T} {0})"),
    _unary("trunc", np.trunc, NOT_DIFFERENTIABLE, math_name=None, lower="call {T} @llvm.trunc.{t}({T} {0})"),
    _unary("rint", np.rint, NOT_DIFFERENTIABLE, math_name=None, lower="call {T} @llvm.roundeven.{t}({T} {0})",
           doc="round half to even"),
)  # fmt: skip


def _away_from_origin(e: Emitter, op: Op, norm: Value) -> tuple[Value, Callable[[Value], Partial]]:
    """A denominator that is never 0, and what makes a partial: 0 at the origin, with all its derivatives."""
    zero = e.like(0.0, norm)
    origin = e("eq", norm, zero)
    safe = e("select", origin, e.like(1.0, norm), norm)
    return safe, lambda value: Partial(e("select", origin, zero, value), strong=True)


def _atan2(e: Emitter, op: Op) -> Sequence[Partial | float | None]:
    """x/(x*x+y*y) and -y/(x*x+y*y), by way of hypot so that nothing over- or underflows early; 0, 0 at the origin."""
    y, x = op.operands
    safe, partial = _away_from_origin(e, op, e("hypot", x, y))
    return (partial(e("div", e("div", x, safe), safe)), partial(e("neg", e("div", e("div", y, safe), safe))))


def _hypot(e: Emitter, op: Op) -> Sequence[Partial | float | None]:
    x, y = op.operands
    safe, partial = _away_from_origin(e, op, op.result)
    return (partial(e("div", x, safe)), partial(e("div", y, safe)))


BINARY = (
    Prim(name="atan2", doc="the angle of (x, y); derivative 0, 0 at the origin", infer=same(FLOATS, 2), impl=np.arctan2,
         derivative=_atan2, lower={"float": Elementary("atan2")},
         public=(PublicName("math.atan2", "math"), *ufunc("arctan2"))),
    Prim(name="hypot", doc="sqrt(x*x + y*y); derivative 0, 0 at the origin", infer=same(FLOATS, 2), impl=np.hypot,
         derivative=_hypot, lower={"float": Elementary("hypot")}, public=ufunc("hypot")),
    Prim(name="nextafter", doc="the next float after x towards y", infer=same(FLOATS, 2), impl=np.nextafter,
         lower={"float": Elementary("nextafter")}, public=(PublicName("math.nextafter", "math"), *ufunc("nextafter"))),
    Prim(name="polygamma", doc="the n-th derivative of digamma", infer=_polygamma_infer, impl=_polygamma_impl,
         derivative=_polygamma, lower={"int": Elementary("polygamma")}, samples="positive"),
)  # fmt: skip

# x - x is 0 for finite x and nan otherwise.
IS_NAN = "fcmp uno {T} {0}, {0}"
IS_FINITE = "{d} = fsub {T} {0}, {0}\nfcmp ord {T} {d}, {d}"
IS_INF = "{a} = call {T} @llvm.fabs.{t}({T} {0})\nfcmp oeq {T} {a}, 0x7FF0000000000000"


def _predicate(name: str, impl: Callable[..., Any], lower: str) -> Prim:
    return Prim(name=name, doc=f"{name}(x)", infer=to_bool(FLOATS, 1), impl=impl, lower={"float": lower},
                public=(PublicName(f"math.{name}", "math"), *ufunc(name)))  # fmt: skip


PREDICATES = (
    _predicate("isnan", np.isnan, IS_NAN),
    _predicate("isinf", np.isinf, IS_INF),
    _predicate("isfinite", np.isfinite, IS_FINITE),
)

PRIMS = tuple(register(p) for p in (*UNARY, *BINARY, *PREDICATES))

__all__ = ["BOOL", "PRIMS", "DType"]
