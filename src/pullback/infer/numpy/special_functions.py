"""Functions of scipy.special that are primitives, but not as their row has it: digamma, polygamma, zeta, loggamma.

    zeta(s)            zetac(s) + 1
    zeta(s, q)         hurwitz(s, q)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from pullback.infer.creation import arguments_of
from pullback.infer.engine import Frame
from pullback.infer.numbers import convert
from pullback.infer.numpy.numpy_functions import common, map_numbers
from pullback.infer.registry import HANDLERS, Handler
from pullback.infer.values import AV
from pullback.ir.node import Value
from pullback.prims.base import Emitter
from pullback.types import DType, NoneType, Number, show

__all__: list[str] = []


def _float_kind(kind: Number) -> Number:
    return kind if kind.dtype is DType.F32 else Number(DType.F64, weak=False)


def _of_floats(name: str, formula: Callable[..., Value], parameters: Sequence[str] = ("x",)) -> Handler:
    """A function that promotes its arguments to one float dtype."""

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        kind = _float_kind(common(cx, operands))
        return AV(kind, (formula(cx.e, *(convert(cx, av, kind.dtype) for av in operands)),))

    def handler(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        found = arguments_of(cx, f"scipy.special.{name}", parameters, arguments, keywords)
        if len(found) < len(parameters):
            raise cx.type_error(f"{name}() takes {len(parameters)} arguments", f"{len(found)} are given")
        return map_numbers(cx, [found[parameter] for parameter in parameters], rule)

    return handler


def _digamma(e: Emitter, x: Value) -> Value:
    return e("polygamma", e.integer(0), x)


def _gammaln(e: Emitter, x: Value) -> Value:
    """C's lgamma, except that -inf stays -inf."""
    return e("select", e("eq", x, e.like(-math.inf, x)), x, e("lgamma", x))


def _loggamma(e: Emitter, x: Value) -> Value:
    """Of real numbers: nan below 0."""
    return e("select", e("lt", x, e.like(0.0, x)), e.like(math.nan, x), e("lgamma", x))


def _zeta(e: Emitter, s: Value) -> Value:
    return e("add", e("zetac", s), e.like(1.0, s))


def _gamma_sign(e: Emitter, x: Value) -> Value:
    """1 or -1; nan at the poles below 0."""
    floor, one = e("floor", x), e.like(1.0, x)
    half = _half_of(e, floor)
    signed = e("select", e("eq", e("floor", half), half), one, e.like(-1.0, x))
    pole = e("or_", e("eq", floor, x), e("isnan", x))
    below = e("select", pole, e.like(math.nan, x), signed)
    return e("select", e("ge", x, e.like(0.0, x)), e("copysign", one, x), below)


def _half_of(e: Emitter, x: Value) -> Value:
    return e("mul", e.like(0.5, x), x)


_ZETA = _of_floats("zeta", _zeta)
_HURWITZ = _of_floats("zeta", lambda e, s, q: e("hurwitz", s, q), ("x", "q"))


def _zeta_of(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """zeta(x, q): of one argument where q is None or left out."""
    found = arguments_of(cx, "scipy.special.zeta", ("x", "q"), arguments, keywords)
    if "q" not in found or isinstance(found["q"].type, NoneType):
        return _ZETA(cx, [found["x"]], {})
    return _HURWITZ(cx, [found["x"], found["q"]], {})


def _polygamma(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """polygamma(n, x) in float64; the order 0 in the dtype of x, as SciPy computes it."""
    found = arguments_of(cx, "scipy.special.polygamma", ("n", "x"), arguments, keywords)

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        order, x = operands
        assert isinstance(order.type, Number) and isinstance(x.type, Number)
        if order.type.dtype.is_float:
            raise cx.error("the order of polygamma must be an int", f"this is {show(order.type)}", "write int(n)")
        e, n, value = cx.e, convert(cx, order, DType.I64), convert(cx, x, DType.F64)
        result = e("polygamma", n, value)
        if x.type.dtype is DType.F32:
            single = e("cast", _digamma(e, x.value), to=DType.F64)
            result = e("select", e("eq", n, e.integer(0)), single, result)
        return AV(Number(DType.F64, weak=False), (result,))

    return map_numbers(cx, [found["n"], found["x"]], rule, apart=1)


def _of_order(name: str, prim: str, wide: Callable[[Number, Number], bool]) -> Handler:
    """A function of an order and a number; `wide` says for which types the first of SciPy's loops is in float64."""

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        order, x = (av.type for av in operands)
        assert isinstance(order, Number) and isinstance(x, Number)
        kind = Number(DType.F64, weak=False) if wide(order, x) else _float_kind(common(cx, operands))
        return AV(kind, (cx.e(prim, *(convert(cx, av, kind.dtype) for av in operands)),))

    def handler(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        if len(arguments) != 2 or keywords:
            raise cx.type_error(f"{name}() takes 2 arguments here", f"{len(arguments) + len(keywords)} are given")
        return map_numbers(cx, arguments, rule)

    return handler


def _hyp2f1(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """In float64 where an argument is a Python number: the first of SciPy's loops."""

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        weak = any(isinstance(av.type, Number) and av.type.weak for av in operands)
        kind = Number(DType.F64, weak=False) if weak else _float_kind(common(cx, operands))
        return AV(kind, (cx.e("hyp2f1", *(convert(cx, av, kind.dtype) for av in operands)),))

    if len(arguments) != 4 or keywords:
        raise cx.type_error("hyp2f1() takes 4 arguments here", f"{len(arguments) + len(keywords)} are given")
    return map_numbers(cx, arguments, rule)


def _by_int(order: Number, x: Number) -> bool:
    return not order.dtype.is_float


def _by_literal(order: Number, x: Number) -> bool:
    return order.weak or x.weak


HANDLERS.update({f"scipy.special.{name}": handler for name, handler in {
    "psi": _of_floats("psi", _digamma), "digamma": _of_floats("digamma", _digamma), "zeta": _zeta_of,
    "gammaln": _of_floats("gammaln", _gammaln), "loggamma": _of_floats("loggamma", _loggamma),
    "gammasgn": _of_floats("gammasgn", _gamma_sign), "polygamma": _polygamma,
    "yn": _of_order("yn", "yv", _by_int), "kn": _of_order("kn", "kv", _by_int),
    "expn": _of_order("expn", "expn", _by_int), "gammainc": _of_order("gammainc", "gammainc", _by_literal),
    "gammaincc": _of_order("gammaincc", "gammaincc", _by_literal), "hyp2f1": _hyp2f1,
}.items()})  # fmt: skip
