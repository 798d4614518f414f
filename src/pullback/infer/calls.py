"""Calls: closures through specializations, builtins through the surface table, derivatives through their ops."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import FunctionType

from pullback.infer.advice import nearest
from pullback.infer.dispatch import dispatch
from pullback.infer.engine import Code, Frame, Specialization
from pullback.infer.lattice import family_of, widen
from pullback.infer.names import default_values
from pullback.infer.registry import HANDLERS, ROW_HANDLERS, is_exception, prelude, row_of
from pullback.infer.samples import python_error
from pullback.infer.values import AV, coerce, items_of
from pullback.ir.node import Value
from pullback.prims.base import get
from pullback.prims.prelude import FUNCTIONS
from pullback.types import BoxedFunction, Builtin, Closure, Never, Str, Tuple, Type, Union, show, slots

__all__ = ["DERIVATIVES", "bind", "call", "call_builtin", "specialized", "specialized_for"]

# How values of derivative types are called; the room's module for derivatives puts them here.
DERIVATIVES: dict[type[Type], Callable[[Frame, AV, Sequence[AV], Mapping[str, AV]], AV]] = {}


def call(cx: Frame, function: AV, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """function(*arguments, **keywords)."""
    if any(isinstance(av.type, Never) for av in (function, *arguments, *keywords.values())):
        return cx.stop()
    if isinstance(function.type, Union):
        return dispatch(cx, [function], lambda cx, operands: call(cx, operands[0], arguments, keywords))
    match function.type:
        case Closure(str() as method, _, _):
            return _call_method(cx, method, items_of(function)[0], arguments, keywords)
        case Closure():
            return _call_closure(cx, function, arguments, keywords)
        case BoxedFunction():
            return _call_boxed(cx, function, arguments, keywords)
        case Builtin(name):
            return call_builtin(cx, name, arguments, keywords)
    handler = DERIVATIVES.get(type(function.type))
    if handler is None:
        raise cx.error(f"{show(function.type)} is not callable", "this value is called like a function",
                       raised=python_error(lambda value: value(), function.type))  # fmt: skip
    return handler(cx, function, arguments, keywords)


def call_builtin(cx: Frame, name: str, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """Call a known function by its public name."""
    handler = HANDLERS.get(name)
    if handler is not None:
        return handler(cx, arguments, keywords)
    row = row_of(name)
    if row is not None:
        if keywords:
            shown = ", ".join(f"{keyword}=" for keyword in keywords)
            raise cx.error(f"{name}() takes no keyword arguments here", f"{shown} cannot be given", "leave it out")
        return ROW_HANDLERS[row[1].kind](cx, *row, arguments)
    if name in FUNCTIONS:
        return call(cx, prelude(cx, name), arguments, keywords)
    if is_exception(name):
        return _exception(cx, name, arguments, keywords)
    raise cx.error(f"{name} cannot be called in compiled code", "this function is not known to pullback")


def _exception(cx: Frame, name: str, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """SomeError("text"): what `raise` takes."""
    if len(arguments) > 1 or keywords:
        short = name.removeprefix("builtins.")
        raise cx.error(f"{short}() takes one string here", f"{len(arguments) + len(keywords)} arguments are given",
                       f'write one text: {short}("...")')  # fmt: skip
    parts = [AV(Builtin(name)), *(arguments[:1] or [AV(Str(""))])]
    return AV(Tuple(tuple(p.type for p in parts)), tuple(v for p in parts for v in p.values))


def _call_method(cx: Frame, name: str, subject: AV, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """subject.method(...): the function of the same name with the subject first."""
    public = name if name in HANDLERS else f"numpy.{name.removeprefix('ndarray.')}"
    return call_builtin(cx, public, [subject, *arguments], keywords)


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
    return specialized_for(cx, function, bind(cx, function, arguments, keywords))


def specialized_for(cx: Frame, function: AV, bound: Sequence[AV]) -> tuple[Specialization, list[Value]]:
    """`specialized` where the arguments are in the order of the parameters, defaults filled in."""
    assert isinstance(function.type, Closure) and isinstance(function.type.code, Code)
    code = function.type.code
    bound = [_widened(cx, av) for av in bound]
    types = (*function.type.captured, *(av.type for av in bound))
    spec = cx.session.specialize(code, types, cx.span)
    return spec, [*function.values, *(v for av in bound for v in av.values)]


def _widened(cx: Frame, av: AV) -> AV:
    """The value with closures that capture their own kind behind references; what is called itself stays a closure."""
    target = widen(av.type, cx.session.families)
    return coerce(cx.e, av, target) if target != av.type else av


def _call_boxed(cx: Frame, function: AV, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """A call through a reference: one direct call per member of the family."""
    assert isinstance(function.type, BoxedFunction)
    family = family_of(function.type)
    members = list(family.members)
    tag = cx.e("box_tag", function.value)

    def one(number: int) -> AV:
        member = members[number]
        types = tuple(s for t in member.captured for s in slots(t))
        attrs: dict[str, object] = {"name": str(family), "variant": number, "types": types}
        op = cx.e.append(get("unbox"), [function.value], attrs=attrs)
        return _call_closure(cx, AV(member, tuple(op.results)), arguments, keywords)

    def rest(number: int) -> AV:
        if number == len(members) - 1:
            return one(number)
        hit = cx.e("eq", tag, cx.e.integer(number))
        (result,) = cx.choose(hit, lambda: [one(number)], lambda: [rest(number + 1)])
        return result

    return rest(0)


def bind(cx: Frame, function: AV, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> list[AV]:
    """Arguments in the order of the parameters, defaults filled in."""
    assert isinstance(function.type, Closure) and isinstance(function.type.code, Code)
    code = function.type.code
    parameters = code.untyped.attrs["parameters"]
    assert isinstance(parameters, tuple)
    positional = [name for name, kind, _ in parameters if kind != "keyword_only"]
    if len(arguments) > len(positional):
        plural = "" if len(positional) == 1 else "s"
        were = "was" if len(arguments) == 1 else "were"
        title = f"{code.name}() takes {len(positional)} positional argument{plural} but {len(arguments)} {were} given"
        raise cx.type_error(title, "too many arguments", _signature(code))
    given: dict[str, AV] = dict(zip(positional, arguments, strict=False))
    for name, av in keywords.items():
        kind = next((k for n, k, _ in parameters if n == name), None)
        if kind is None or kind == "positional_only":
            known = [n for n, k, _ in parameters if k != "positional_only"]
            help = nearest(name, known) or _signature(code)
            title = f"{code.name}() got an unexpected keyword argument '{name}'"
            raise cx.type_error(title, "there is no parameter of this name", help)
        if name in given:
            title = f"{code.name}() got multiple values for argument '{name}'"
            raise cx.type_error(title, "given by position and by name", _signature(code))
        given[name] = av
    missing = [name for name, _, has_default in parameters if name not in given and not has_default]
    if missing:
        names = " and ".join(f"'{name}'" for name in missing)
        title = f"{code.name}() missing required argument{'s' if len(missing) > 1 else ''}: {names}"
        raise cx.type_error(title, f"{len(given)} of {len(parameters)} given", _signature(code))
    defaults = _defaults(cx, function, code) if len(given) < len(parameters) else {}
    return [given[name] if name in given else defaults[name] for name, _, _ in parameters]


def _signature(code: Code) -> str:
    """How the function is called, for messages."""
    parameters = code.untyped.attrs["parameters"]
    assert isinstance(parameters, tuple)
    shown = [f"{name}=..." if kind == "keyword_only" or has_default else name for name, kind, has_default in parameters]
    return f"write {code.name}({', '.join(shown)})"


def _defaults(cx: Frame, function: AV, code: Code) -> dict[str, AV]:
    """Defaults by name: from the function object, or the values a local function captured for them."""
    python: object = code.python
    if isinstance(python, FunctionType):
        return default_values(cx, python)
    names = [name for name, _, has_default in code.untyped.attrs["parameters"] if has_default]  # type: ignore[attr-defined]
    values = items_of(function)[len(function.type.captured) - len(names) :] if names else []  # type: ignore[union-attr]
    return dict(zip(names, values, strict=True))
