"""Calls: closures through specializations, builtins through the surface table, derivatives through their ops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pullback.infer.dispatch import dispatch
from pullback.infer.engine import Code, Frame, Specialization
from pullback.infer.names import default_values
from pullback.infer.values import AV, items_of
from pullback.ir.node import Value
from pullback.prims.base import get
from pullback.types import Builtin, Closure, Never, Pullback, Transformed, Union, show, slots

__all__ = ["bind", "call", "closure_operands", "specialized"]


def call(cx: Frame, function: AV, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """function(*arguments, **keywords)."""
    if any(isinstance(av.type, Never) for av in (function, *arguments, *keywords.values())):
        return cx.stop()
    if isinstance(function.type, Union):
        return dispatch(cx, [function], lambda cx, operands: call(cx, operands[0], arguments, keywords))
    match function.type:
        case Closure(code, _, _) if isinstance(code, str):
            from pullback.infer.surface import call_method

            return call_method(cx, code, items_of(function)[0], arguments, keywords)
        case Closure():
            return _call_closure(cx, function, arguments, keywords)
        case Builtin(name):
            from pullback.infer.surface import call_builtin

            return call_builtin(cx, name, arguments, keywords)
        case Transformed():
            from pullback.infer.derivatives import call_transformed

            return call_transformed(cx, function, arguments, keywords)
        case Pullback():
            from pullback.infer.derivatives import call_pullback

            return call_pullback(cx, function, arguments, keywords)
    raise cx.error(f"{show(function.type)} is not callable", "this value is called like a function")


def _call_closure(cx: Frame, function: AV, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    spec, operands = specialized(cx, function, arguments, keywords)
    op = cx.e.append(get("call"), operands, attrs={"callee": spec.name}, types=slots(spec.result))
    if isinstance(spec.result, Never):
        return cx.stop()
    return AV(spec.result, tuple(op.results))


def specialized(
    cx: Frame, function: AV, arguments: Sequence[AV], keywords: Mapping[str, AV]
) -> tuple[Specialization, list[Value]]:
    """The specialization that a call reaches and the machine operands it is given."""
    assert isinstance(function.type, Closure) and isinstance(function.type.code, Code)
    code = function.type.code
    bound = bind(cx, function, arguments, keywords)
    types = (*function.type.captured, *(av.type for av in bound))
    spec = cx.session.specialize(code, types, cx.span)
    return spec, [*function.values, *(v for av in bound for v in av.values)]


def closure_operands(function: AV) -> int:
    """How many machine operands come before those of the arguments."""
    return len(function.values)


def bind(cx: Frame, function: AV, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> list[AV]:
    """Arguments in the order of the parameters, defaults filled in."""
    assert isinstance(function.type, Closure) and isinstance(function.type.code, Code)
    code = function.type.code
    parameters = code.untyped.attrs["parameters"]
    assert isinstance(parameters, tuple)
    positional = [name for name, kind, _ in parameters if kind != "keyword_only"]
    if len(arguments) > len(positional):
        raise cx.type_error(
            f"{code.name}() takes {len(positional)} positional arguments but {len(arguments)} were given",
            "too many arguments",
        )
    given: dict[str, AV] = dict(zip(positional, arguments, strict=False))
    for name, av in keywords.items():
        kind = next((k for n, k, _ in parameters if n == name), None)
        if kind is None or kind == "positional_only":
            raise cx.type_error(f"{code.name}() got an unexpected keyword argument '{name}'")
        if name in given:
            raise cx.type_error(f"{code.name}() got multiple values for argument '{name}'")
        given[name] = av
    missing = [name for name, _, has_default in parameters if name not in given and not has_default]
    if missing:
        names = " and ".join(f"'{name}'" for name in missing)
        raise cx.type_error(f"{code.name}() missing required argument{'s' if len(missing) > 1 else ''}: {names}")
    defaults = _defaults(cx, function, code) if len(given) < len(parameters) else {}
    return [given[name] if name in given else defaults[name] for name, _, _ in parameters]


def _defaults(cx: Frame, function: AV, code: Code) -> dict[str, AV]:
    """Defaults by name: from the function object, or the values a local function captured for them."""
    if code.python is not None:
        return default_values(cx, code.python)
    names = [name for name, _, has_default in code.untyped.attrs["parameters"] if has_default]  # type: ignore[attr-defined]
    values = items_of(function)[len(function.type.captured) - len(names) :] if names else []  # type: ignore[union-attr]
    return dict(zip(names, values, strict=True))
