"""Calls: closures through specializations, builtins through the surface table, derivatives through their ops."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pullback.diagnostic import CompileError
from pullback.infer.binding import bind
from pullback.infer.bound import Application, MethodOf, parts
from pullback.infer.dispatch import dispatch
from pullback.infer.engine import Code, Frame, Specialization
from pullback.infer.lattice import family_of, widen
from pullback.infer.registry import HANDLERS, ROW_HANDLERS, is_exception, prelude, row_of
from pullback.infer.samples import python_error
from pullback.infer.signatures import mismatch
from pullback.infer.static import as_asked
from pullback.infer.values import AV, coerce, items_of
from pullback.ir.node import Value
from pullback.prims.base import get
from pullback.prims.prelude import FUNCTIONS
from pullback.types import BoxedFunction, Builtin, Closure, Iterator, Never, Str, Text, Type, Union, show, slots

__all__ = ["CALLS", "bind", "call", "call_bound", "call_builtin", "specialized", "specialized_for", "widened"]

# How values of other types are called; the modules of this room that give these types their meaning put them here.
CALLS: dict[type[Type], Callable[[Frame, AV, Sequence[AV], Mapping[str, AV]], AV]] = {}


def call(cx: Frame, function: AV, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """function(*arguments, **keywords)."""
    if any(isinstance(av.type, Never) for av in (function, *arguments, *keywords.values())):
        return cx.stop()
    if isinstance(function.type, Union):
        return dispatch(cx, [function], lambda cx, operands: call(cx, operands[0], arguments, keywords))
    match function.type:
        case Closure(str() as method, _, _):
            return _call_method(cx, method, items_of(function)[0], arguments, keywords)
        case Closure(MethodOf(name)):
            return HANDLERS["object.method"](cx, [AV(Str(name)), items_of(function)[0], *arguments], keywords)
        case Closure(Application()):
            inner, first, named = parts(function)
            return call(cx, inner, [*first, *arguments], {**named, **keywords})
        case Closure():
            return _call_closure(cx, function, arguments, keywords)
        case BoxedFunction():
            return _call_boxed(cx, function, arguments, keywords)
        case Builtin(name):
            return call_builtin(cx, name, arguments, keywords)
    handler = CALLS.get(type(function.type))
    if handler is None:
        raise cx.error(f"{show(function.type)} is not callable", "this value is called like a function",
                       raised=python_error(lambda value: value(), function.type))  # fmt: skip
    return handler(cx, function, arguments, keywords)


# Meanings that calls of known functions have for values of certain types; None where it is not one of them.
INTERCEPT: list[Callable[[Frame, str, Sequence[AV], Mapping[str, AV]], AV | None]] = []


def call_builtin(
    cx: Frame, name: str, arguments: Sequence[AV], keywords: Mapping[str, AV], asked: str | None = None
) -> AV:
    """Call a known function by its public name; `asked`: what the user called, where that is another."""
    if name.startswith(_BY_TEXTS) and any(_may_be_text(av.type) for av in (*arguments, *keywords.values())):
        return _by_texts(cx, name, arguments, keywords)
    wrong = mismatch(asked or name, arguments, keywords)
    if wrong is None:
        return _meaning(cx, name, arguments, keywords)
    try:
        _meaning(cx, name, arguments, keywords)
    except CompileError:
        raise  # it says more than the signature
    except Exception:  # it counts on arguments that the function takes
        pass
    raise cx.type_error(wrong, "Python's function does not take this")


def _meaning(cx: Frame, name: str, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    for intercept in INTERCEPT:
        found = intercept(cx, name, arguments, keywords)
        if found is not None:
            return found
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
        return HANDLERS["exception"](cx, [AV(Builtin(name)), *arguments], keywords)
    raise cx.error(f"{name} cannot be called in compiled code", "this function is not known to pullback")


# Functions that mean different things by the strings that they are given.
_BY_TEXTS = ("numpy.", "scipy.", "ndarray.", "builtins.getattr", "builtins.setattr", "builtins.hasattr")


def _may_be_text(type_: Type) -> bool:
    """Is it a string that only the run knows, or one of several."""
    return any(isinstance(t, Str | Text) for t in type_.members) if isinstance(type_, Union) else type_ == Text()


def _by_texts(cx: Frame, name: str, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """One call for each of the strings that an argument may be."""

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        if any(isinstance(av.type, Text) for av in operands):
            title = f"{name.removeprefix('builtins.')} needs strings that are known while compiling"
            raise cx.error(title, "only the run knows this one",
                           "compare it with the strings that it may be, and write these")  # fmt: skip
        named = dict(zip(keywords, operands[len(arguments) :], strict=True))
        return call_builtin(cx, name, operands[: len(arguments)], named)

    return dispatch(cx, [*arguments, *keywords.values()], rule)


def _call_method(cx: Frame, name: str, subject: AV, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """subject.method(...): the function of the same name with the subject first."""
    public = name if name in HANDLERS or name in FUNCTIONS else f"numpy.{name.partition('.')[2]}"
    return call_builtin(cx, public, [subject, *arguments], keywords, name)


def _call_closure(cx: Frame, function: AV, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    bound = bind(cx, function, arguments, keywords)
    if function.type.code.untyped.attrs.get("generator"):  # type: ignore[union-attr]
        parts_ = [function, *bound]
        return AV(Iterator("generator", tuple(p.type for p in parts_)), tuple(v for p in parts_ for v in p.values))
    made = call_bound(cx, function, bound)
    if not cx.dead and function.type.code.untyped.attrs.get("resumes"):  # type: ignore[union-attr]
        return call_builtin(cx, "pullback.resumed", [made], {})
    return made


def call_bound(cx: Frame, function: AV, bound: Sequence[AV]) -> AV:
    """The call of a closure with one argument for each parameter; of a generator function, with its consumer too."""
    spec, operands = specialized_for(cx, function, bound)
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
    bound = [widened(cx, av) for av in bound]
    operands = [*function.values, *(v for av in bound for v in av.values)]
    types = as_asked(cx, code, (*function.type.captured, *(av.type for av in bound)), operands)
    return cx.session.specialize(code, types, cx.span), operands


def widened(cx: Frame, av: AV) -> AV:
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
        return call(cx, AV(member, tuple(op.results)), arguments, keywords)

    def rest(number: int) -> AV:
        if number == len(members) - 1:
            return one(number)
        hit = cx.e("eq", tag, cx.e.integer(number))
        (result,) = cx.choose(hit, lambda: [one(number)], lambda: [rest(number + 1)])
        return result

    return rest(0)
