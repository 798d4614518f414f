"""Functions of `math`: Python floats in, Python floats out, Python's errors.

As CPython does it: a nan from numbers is a domain error, an infinity from finite numbers a range error.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from pullback.infer.arithmetic import binary
from pullback.infer.dispatch import dispatch
from pullback.infer.engine import Frame
from pullback.infer.lattice import WEAK_BOOL, WEAK_FLOAT, WEAK_INT
from pullback.infer.numbers import as_number, convert, python_int, whole
from pullback.infer.registry import HANDLERS, ROW_HANDLERS, Handler, row_of
from pullback.infer.samples import python_error
from pullback.infer.values import AV
from pullback.ir.node import Value
from pullback.prims.base import Prim, PublicName
from pullback.types import BOOL, F64, Array, DType, Number, show

__all__ = ["to_float"]

_DOMAIN = "math domain error"
_RANGE = "math range error"


def to_float(cx: Frame, av: AV, name: str) -> Value:
    """An argument of a math function as a machine float."""
    av = as_number(cx, av)
    if isinstance(av.type, Array):
        mapped = f"numpy.{name.rpartition('.')[2]}"
        help = f"use {mapped.replace('numpy', 'np')}" if row_of(mapped) is not None else "loop over the elements"
        raise cx.error(f"{name} takes a number, not {show(av.type)}", "math functions do not map over arrays", help)
    if not isinstance(av.type, Number):
        raise cx.error(f"{name} takes a number, not {show(av.type)}", "a number is needed",
                       raised=python_error(math.fabs, av.type))  # fmt: skip
    return convert(cx, av, DType.F64)


def call_row(cx: Frame, prim: Prim, public: PublicName, arguments: Sequence[AV]) -> AV:
    """A math function that is one primitive."""
    arity = _arity(prim)
    if len(arguments) != arity:
        plural = "s" if arity > 1 else ""
        raise cx.type_error(f"{public.name}() takes {arity} argument{plural} ({len(arguments)} given)")

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        values = [to_float(cx, av, public.name) for av in operands]
        result = cx.e(prim.name, *values)
        if result.type == BOOL:
            return AV(WEAK_BOOL, (result,))
        if cx.options.checks and _can_fail(prim):
            _check(cx, public, result, values, finite=prim.name in _FINITE)
        return AV(WEAK_FLOAT, (result,))

    return dispatch(cx, arguments, rule)


# Finite wherever they are defined.
_FINITE = frozenset({"sqrt", "sin", "cos", "asin", "acos"})
_TOTAL = frozenset({"abs", "atan", "atan2", "tanh", "asinh", "erf", "erfc", "cbrt", "copysign", "nextafter"})


def _can_fail(prim: Prim) -> bool:
    return prim.name not in _TOTAL


def _arity(prim: Prim) -> int:
    try:
        prim.result_types([F64], {})
    except TypeError:
        return 2
    return 1


def _check(cx: Frame, public: PublicName, result: Value, values: Sequence[Value], *, finite: bool) -> None:
    """math_1 and math_2 of CPython's mathmodule.c.  `finite`: the result of finite numbers is finite or nan."""
    e = cx.e
    fine = e("not_", e("isnan", result))
    for value in values:
        fine = e("or_", fine, e("isnan", value))
    cx.check(fine, "ValueError", _DOMAIN)
    if finite:
        return
    infinite = e("isinf", result)
    for value in values:
        infinite = e("and_", infinite, e("isfinite", value))
    if public.name == "math.pow":
        zero = e.like(0.0, values[0])
        cx.check(e("not_", e("and_", infinite, e("eq", values[0], zero))), "ValueError", _DOMAIN)
    if public.name in ("math.gamma", "math.lgamma"):
        pole = e("and_", e("eq", values[0], e("floor", values[0])), e("le", values[0], e.like(0.0, values[0])))
        cx.check(e("not_", e("and_", infinite, pole)), "ValueError", _DOMAIN)
    exception, message = ("OverflowError", _RANGE) if public.overflow else ("ValueError", _DOMAIN)
    cx.check(e("not_", infinite), exception, message)


# --------------------------------------------------------------------------------------------- special forms


def _float_to_int(name: str, prim: str) -> Handler:
    def handler(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        if len(arguments) != 1 or keywords:
            raise cx.type_error(f"{name}() takes exactly one argument ({len(arguments)} given)")

        def rule(cx: Frame, operands: Sequence[AV]) -> AV:
            av = as_number(cx, operands[0])
            if isinstance(av.type, Number) and not av.type.dtype.is_float:
                return AV(WEAK_INT, (python_int(cx, av),))
            return whole(cx, cx.e(prim, to_float(cx, av, name)))

        return dispatch(cx, arguments, rule)

    return handler


def _log(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    if not 1 <= len(arguments) <= 2 or keywords:
        raise cx.type_error(f"math.log() takes 1 or 2 arguments ({len(arguments)} given)")

    def one(cx: Frame, operands: Sequence[AV]) -> AV:
        x = to_float(cx, operands[0], "math.log")
        if cx.options.checks:
            ok = cx.e("or_", cx.e("gt", x, cx.e.like(0.0, x)), cx.e("isnan", x))
            cx.check(ok, "ValueError", _log_message(), x)
        return AV(WEAK_FLOAT, (cx.e("log", x),))

    logs = [dispatch(cx, [av], one) for av in arguments]
    if len(logs) == 1 or cx.dead:
        return logs[0]
    return binary(cx, "/", *logs)


def _log_message() -> str:
    try:
        math.log(-1.0)
    except ValueError as error:
        return str(error) if "-1" not in str(error) else str(error).replace("-1.0", "{0}")
    return _DOMAIN


def _hypot(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        values = [to_float(cx, av, "math.hypot") for av in operands]
        if not values:
            return AV(WEAK_FLOAT, (cx.e.constant(0.0),))
        result = cx.e("abs", values[0])
        for value in values[1:]:
            result = cx.e("hypot", result, value)
        return AV(WEAK_FLOAT, (result,))

    return dispatch(cx, arguments, rule) if arguments else rule(cx, [])


def _fma(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    if len(arguments) != 3:
        raise cx.type_error(f"math.fma() takes 3 arguments ({len(arguments)} given)")

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        return AV(WEAK_FLOAT, (cx.e("fma", *[to_float(cx, av, "math.fma") for av in operands]),))

    return dispatch(cx, arguments, rule)


HANDLERS.update({
    "math.floor": _float_to_int("math.floor", "floor"), "math.ceil": _float_to_int("math.ceil", "ceil"),
    "math.trunc": _float_to_int("math.trunc", "trunc"), "math.log": _log, "math.hypot": _hypot, "math.fma": _fma,
    "pullback.fma": _fma,
})  # fmt: skip
ROW_HANDLERS["math"] = call_row
