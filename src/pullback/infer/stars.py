"""Calls with * and **: the items of what is spread become arguments of their own.

    f(x, *pair, **options)      ->      f(x, pair[0], pair[1], scale=options["scale"])
"""

from __future__ import annotations

from collections.abc import Sequence
from types import FunctionType

from pullback.infer.binding import SPREAD
from pullback.infer.bound import Application
from pullback.infer.calls import call
from pullback.infer.classes import function_of, member
from pullback.infer.dispatch import dispatch
from pullback.infer.engine import Code, Frame
from pullback.infer.lists import is_sequence
from pullback.infer.loops import force, iterable
from pullback.infer.named import spread_names
from pullback.infer.registry import HANDLERS, prelude
from pullback.infer.structures import unpack
from pullback.infer.values import AV, items_of
from pullback.ir.node import Op
from pullback.types import Builtin, Class, Closure, Dict, Iterator, Never, Type, Union, show

__all__ = ["call_star"]


# Functions of any number of iterables, as functions of a list of them.
_OF_ALL = {"builtins.zip": "pullback.iter_transposed", "itertools.chain": "pullback.iter_chain_from"}


def call_star(cx: Frame, op: Op, operands: Sequence[AV]) -> AV:
    """py.call_star: one kind for each argument, "positional", "*", "**" or "=name"."""
    kinds = op.attrs["kinds"]
    assert isinstance(kinds, tuple)
    function, *values = operands
    cx.argument_values = op.operands[1:] if all(kind == "positional" for kind in kinds) else []
    return _spread(cx, function, kinds, values)


def _spread(cx: Frame, function: AV, kinds: Sequence[str], values: Sequence[AV]) -> AV:
    if any(isinstance(av.type, Never) for av in values):
        return cx.stop()
    for position, (kind, av) in enumerate(zip(kinds, values, strict=True)):
        if kind in ("*", "**") and isinstance(av.type, Union):

            def rule(cx: Frame, found: Sequence[AV], position: int = position) -> AV:
                return _spread(cx, function, kinds, [*values[:position], found[0], *values[position + 1 :]])

            return dispatch(cx, [av], rule)
    if tuple(kinds) == ("*",) and isinstance(function.type, Builtin) and is_sequence(values[0].type):
        whole = _OF_ALL.get(function.type.name)
        if whole is not None:
            return call(cx, prelude(cx, whole), values, {})
    given: list[AV] = []
    named: dict[str, AV] = {}
    for number, (kind, av) in enumerate(zip(kinds, values, strict=True)):
        if kind == "positional":
            given.append(av)
        elif kind == "*":
            given += _items(cx, function.type, av, len(given), kinds[number + 1 :])
            if cx.dead:
                return cx.stop()
        elif kind != "**" or isinstance(av.type, Dict):
            _name(cx, function.type, named, {kind[1:]: av} if kind != "**" else _entries(av))
        elif number + 1 < len(kinds) or not spread_names(cx, function, len(given), named, av):
            raise cx.error(f"the names of the arguments that **{show(av.type)} gives are not known while compiling",
                           "its keys depend on run-time data", "name the arguments, or pass the dict as one")
        if cx.dead:
            return cx.stop()
    return call(cx, function, given, named)


def _items(cx: Frame, function: Type, av: AV, before: int, after: Sequence[str]) -> list[AV]:
    """The items of what is spread; of a list of run-time length as many as the function has room for."""
    source = iterable(cx, av)
    if source.items is not None:
        return [force(cx, item) for item in source.items]
    if not after and _collects(cx, function, before):
        rest = HANDLERS["builtins.tuple"](cx, [av], {})
        return [] if cx.dead else [AV(Iterator(SPREAD, (rest.type,)), rest.values)]
    wanted = _room(function)
    if wanted is None or any(not kind.startswith("=") for kind in after):
        raise cx.error(f"the number of arguments that *{show(av.type)} gives is not known while compiling",
                       "how many items this has depends on run-time data",
                       "pass the whole as one argument, or unpack it into names first")  # fmt: skip
    return unpack(cx, av, wanted - before)


def _room(function: Type) -> int | None:
    """How many arguments by position the function takes, where that is one number."""
    if not isinstance(function, Closure) or not isinstance(function.code, Code):
        return None
    parameters = function.code.untyped.attrs["parameters"]
    assert isinstance(parameters, tuple)
    positional = [has_default for _, kind, has_default in parameters if kind in ("positional_only", "positional")]
    collects = any(kind == "var_positional" for _, kind, _ in parameters)
    return None if collects or any(positional) else len(positional)


def _collects(cx: Frame, function: Type, before: int) -> bool:
    """Does all that follows `before` arguments, and nothing else, become the function's *args?"""
    match function:
        case Closure(Code() as code):
            parameters = code.untyped.attrs["parameters"]
            assert isinstance(parameters, tuple)
            positional = [name for name, kind, _ in parameters if kind in ("positional_only", "positional")]
            return len(positional) == before and any(kind == "var_positional" for _, kind, _ in parameters)
        case Closure(Application() as application, (inner, *given)):
            return _collects(cx, inner, before + len(given) - len(application.keywords))
        case Class(python):
            found = member(cx, python, "__init__")
            if found is None or not isinstance(found[1], FunctionType):
                return False
            return _collects(cx, function_of(cx, found[1], "__init__").type, before + 1)
    return False


def _entries(av: AV) -> dict[str, AV]:
    assert isinstance(av.type, Dict)
    return dict(zip(av.type.keys, items_of(av), strict=True))


def _name(cx: Frame, function: Type, named: dict[str, AV], more: dict[str, AV]) -> None:
    twice = [name for name in more if name in named]
    if twice:
        name = function.name if isinstance(function, Closure) else show(function)
        raise cx.type_error(f"{name}() got multiple values for keyword argument '{twice[0]}'", "it is given twice")
    named.update(more)
