"""Calls with * and **: the items of what is spread become arguments of their own.

    f(x, *pair, **options)      ->      f(x, pair[0], pair[1], scale=options["scale"])
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Sequence
from functools import cache
from types import FunctionType

import numpy as np

from pullback.infer.binding import SPREAD, pack_tuple
from pullback.infer.bound import Application
from pullback.infer.calls import call
from pullback.infer.classes import function_of, member
from pullback.infer.construct import generated_parameters
from pullback.infer.dispatch import dispatch
from pullback.infer.engine import Code, Frame
from pullback.infer.heaps import heap_of_type
from pullback.infer.indexing import subscript
from pullback.infer.lattice import WEAK_INT
from pullback.infer.lists import is_sequence
from pullback.infer.literals import literal
from pullback.infer.loops import force, iterable
from pullback.infer.named import spread_names
from pullback.infer.registry import HANDLERS, prelude
from pullback.infer.structures import unpack
from pullback.infer.texts import is_text
from pullback.infer.values import AV, items_of
from pullback.ir.node import Op, Value
from pullback.types import (
    NONE,
    Array,
    Builtin,
    Class,
    Closure,
    Constant,
    Dict,
    Iterator,
    Never,
    NoneType,
    Number,
    Slice,
    Str,
    Type,
    Union,
    show,
)  # fmt: skip

__all__ = ["call_star", "left_for", "of_all", "room"]

_MOST_CHOICES = 4
"""Parameters with defaults that a list of run-time length may reach; each number of items is a call of its own."""


# Functions of any number of iterables, and of numbers, as functions of a list of them.
_OF_ITERABLES = {
    "builtins.zip": "pullback.iter_transposed", "itertools.chain": "pullback.iter_chain_from",
    "heapq.merge": "pullback.merge_of",
}  # fmt: skip
_OF_NUMBERS = {
    "builtins.max": "pullback.max_of", "builtins.min": "pullback.min_of", "math.hypot": "pullback.hypot_of",
    "math.gcd": "pullback.gcd_of", "math.lcm": "pullback.lcm_of",
}  # fmt: skip


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
    if function.type == Builtin("builtins.print") and _any_of_run_time_length(cx, kinds, values):
        return _printed(cx, kinds, values)
    if (whole := of_all(function.type, kinds, values)) is not None:
        return call(cx, prelude(cx, whole), values, {})
    given: list[AV] = []
    named: dict[str, AV] = {}
    for number, (kind, av) in enumerate(zip(kinds, values, strict=True)):
        if kind == "*" and (counts := _choice(cx, function.type, av, len(given), kinds[number + 1 :])) is not None:
            return _chosen(cx, function, kinds, values, (number, len(given)), counts)
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


def _any_of_run_time_length(cx: Frame, kinds: Sequence[str], values: Sequence[AV]) -> bool:
    return any(_of_run_time_length(cx, av) for kind, av in zip(kinds, values, strict=True) if kind == "*")


def _printed(cx: Frame, kinds: Sequence[str], values: Sequence[AV]) -> AV:
    """print(x, *items, sep=s): the texts of all of them in one."""
    named: dict[str, AV] = {}
    for kind, av in zip(kinds, values, strict=True):
        if kind not in ("positional", "*"):
            _name(cx, Builtin("builtins.print"), named, {kind[1:]: av} if kind != "**" else _entries(av))
    items = [(kind, av) for kind, av in zip(kinds, values, strict=True) if kind in ("positional", "*")]

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        separator = AV(Str(" "), (), " ") if isinstance(operands[0].type, NoneType) else operands[0]
        if not is_text(separator.type):
            raise cx.error(f"sep and end of print() are strings, not {show(separator.type)}", "this is no string",
                           raised=("TypeError", "sep must be None or a string"))  # fmt: skip
        line = pack_tuple([AV(Str(""), (), ""), AV(Constant(False), (), False)])
        for kind, av in items:
            given = [*items_of(line), separator, av if kind == "*" else pack_tuple([av])]
            line = call(cx, prelude(cx, "pullback.more_text"), given, {})
            if cx.dead:
                return cx.stop()
        return HANDLERS["builtins.print"](cx, items_of(line)[:1], named)

    return dispatch(cx, [named.pop("sep", AV(NoneType()))], rule)


def of_all(function: Type, kinds: Sequence[str], values: Sequence[AV]) -> str | None:
    """The function of one list that stands for a call with nothing but the items of a list of run-time length."""
    if tuple(kinds) != ("*",) or not isinstance(function, Builtin):
        return None
    if _holds_numbers(values[0].type):
        return _OF_NUMBERS.get(function.name)
    return _OF_ITERABLES.get(function.name) if is_sequence(values[0].type) else None


def _holds_numbers(type_: Type) -> bool:
    """Is this a list, tuple or array of run-time length, of numbers."""
    if isinstance(type_, Array):
        return type_.rank == 1
    if not is_sequence(type_):
        return False
    heap = heap_of_type(type_)
    store = None if heap is None else heap_of_type(heap.known("items"))
    item = None if store is None else store.known("item")
    members = item.members if isinstance(item, Union) else (item,)
    return all(isinstance(member, Number | Constant) for member in members)


def _items(cx: Frame, function: Type, av: AV, before: int, after: Sequence[str]) -> list[AV]:
    """The items of what is spread; of a list of run-time length as many as the function has room for."""
    source = iterable(cx, av)
    if source.items is not None:
        return [force(cx, item) for item in source.items]
    first = None if after else _before_rest(cx, function, before)
    if first is not None:
        return _with_rest(cx, function, av, first)
    wanted = left_for(room(cx, function), after)
    if wanted is None:
        raise cx.error(f"the number of arguments that *{show(av.type)} gives is not known while compiling",
                       "how many items this has depends on run-time data",
                       "pass the whole as one argument, or unpack it into names first")  # fmt: skip
    listed = av if isinstance(av.type, Array) else HANDLERS["builtins.list"](cx, [av], {})
    if cx.dead:
        return []
    _check_count(cx, function, listed, before, wanted)
    return unpack(cx, listed, wanted - before)


def left_for(wanted: int | None, after: Sequence[str]) -> int | None:
    """How many arguments by position there are up to the end of what is spread, of as many as are wanted in all."""
    if wanted is None or any(kind in ("*", "**") for kind in after):
        return None
    return wanted - sum(kind == "positional" for kind in after)


def _choice(cx: Frame, function: Type, av: AV, before: int, after: Sequence[str]) -> range | None:
    """How many items a list of run-time length may give where some parameters have defaults; else None."""
    if after or not _of_run_time_length(cx, av) or _before_rest(cx, function, before) is not None:
        return None
    parameters = _parameters(cx, function)
    if parameters is None or any(kind == "var_positional" for _, kind, _ in parameters):
        return None
    defaults = [given for _, kind, given in parameters if kind in ("positional_only", "positional")]
    least, most = len(defaults) - sum(defaults), len(defaults)
    fits = 0 < most - least <= _MOST_CHOICES and before <= most
    return range(max(least - before, 0), most - before + 1) if fits else None


def _of_run_time_length(cx: Frame, av: AV) -> bool:
    known: list[bool] = []

    def look() -> list[AV]:
        known.append(iterable(cx, av).items is not None)
        return []

    cx.branch(look)
    return not any(known)


def _chosen(
    cx: Frame, function: AV, kinds: Sequence[str], values: Sequence[AV], place: tuple[int, int], counts: range
) -> AV:  # fmt: skip
    """The call, by how many items the list has; place: its number among the values, and the arguments before it."""
    number, before = place
    listed = HANDLERS["builtins.tuple"](cx, [values[number]], {})
    if cx.dead:
        return cx.stop()
    length = HANDLERS["builtins.len"](cx, [listed], {}).value
    least, most, name = counts[0] + before, counts[-1] + before, _called(function.type)
    total = cx.e("add", length, cx.e.integer(before))
    cx.check(cx.e("le", total, cx.e.integer(most)), "TypeError",
             f"{name}() takes from {least} to {most} positional arguments but {{0}} were given", total)  # fmt: skip
    _check_least(cx, name, total, least)

    def rest(count: int) -> list[AV]:
        def one() -> list[AV]:
            items = [subscript(cx, listed, literal(cx, k)) for k in range(count)]
            return [_spread(cx, function, kinds, [*values[:number], pack_tuple(items), *values[number + 1 :]])]

        if count == counts[-1]:
            return one()
        return cx.choose(cx.e("eq", length, cx.e.integer(count)), one, lambda: rest(count + 1))

    (found,) = rest(counts[0])
    return found


def _check_count(cx: Frame, function: Type, listed: AV, before: int, wanted: int) -> None:
    """TypeError unless the list has the items that are left to give."""
    count = cx.e("add", HANDLERS["builtins.len"](cx, [listed], {}).value, cx.e.integer(before))
    name, plural = _called(function), "s" if wanted != 1 else ""
    cx.check(cx.e("le", count, cx.e.integer(wanted)), "TypeError",
             f"{name}() takes {wanted} positional argument{plural} but {{0}} were given", count)  # fmt: skip
    _check_least(cx, name, count, wanted)


def _check_least(cx: Frame, name: str, count: Value, wanted: int) -> None:
    cx.check(cx.e("ge", count, cx.e.integer(wanted)), "TypeError",
             f"{name}() missing required arguments: {{0}} of {wanted} were given", count)  # fmt: skip


def _with_rest(cx: Frame, function: Type, av: AV, first: int) -> list[AV]:
    """Arguments for `first` parameters, and all that follow as the function's *args."""
    rest = HANDLERS["builtins.tuple"](cx, [av], {})
    if cx.dead:
        return []
    given: list[AV] = []
    if first:
        _check_least(cx, _called(function), HANDLERS["builtins.len"](cx, [rest], {}).value, first)
        given = [subscript(cx, rest, literal(cx, number)) for number in range(first)]
        after = Slice((WEAK_INT, NONE, NONE))
        rest = subscript(cx, rest, AV(after, literal(cx, first).values))
    return [*given, AV(Iterator(SPREAD, (rest.type,)), rest.values)]


def _called(function: Type) -> str:
    match function:
        case Closure(_, _, name):
            return name
        case Class(python):
            return python.__qualname__
    return show(function)


def room(cx: Frame, function: Type) -> int | None:
    """How many arguments by position the function takes, where that is one number."""
    parameters = _parameters(cx, function)
    if parameters is None:
        return None
    positional = [has_default for _, kind, has_default in parameters if kind in ("positional_only", "positional")]
    collects = any(kind == "var_positional" for _, kind, _ in parameters)
    return None if collects or any(positional) else len(positional)


def _before_rest(cx: Frame, function: Type, before: int) -> int | None:
    """How many parameters without default come before the function's *args, where it has those; else None."""
    parameters = _parameters(cx, function) or []
    left = [has_default for _, kind, has_default in parameters if kind in ("positional_only", "positional")][before:]
    collects = any(kind == "var_positional" for _, kind, _ in parameters)
    return len(left) if collects and not any(left) else None


def _parameters(cx: Frame, function: Type) -> list[tuple[str, str, bool]] | None:
    """Name, kind and whether there is a default, of what a call of the function gives; None where that is not known."""
    match function:
        case Closure(Code() as code):
            parameters = code.untyped.attrs["parameters"]
            assert isinstance(parameters, tuple)
            return list(parameters)
        case Closure(Application() as application, (inner, *given)):
            return _left(_parameters(cx, inner), len(given) - len(application.keywords))
        case Class(python):
            if (made := generated_parameters(cx, python)) is not None:
                return made
            found = member(cx, python, "__init__")
            if found is not None and isinstance(found[1], FunctionType):
                return _left(_parameters(cx, function_of(cx, found[1], "__init__").type), 1)
        case Builtin(name):
            count = _taken(name)
            return None if count is None else [("", "positional_only", False)] * count
    return None


@cache
def _taken(name: str) -> int | None:
    """How many arguments a ufunc takes, or a function of Python's that takes one number of them."""
    module, _, short = name.rpartition(".")
    if module not in ("builtins", "math", "cmath", "operator", "numpy"):
        return None
    found = getattr(importlib.import_module(module), short, None)
    if isinstance(found, np.ufunc):
        return found.nin
    if module == "numpy" or not callable(found) or isinstance(found, type):
        return None
    try:
        parameters = list(inspect.signature(found).parameters.values())
    except ValueError:  # the signature is not written down
        return None
    one = all(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty for p in parameters)
    return len(parameters) if one else None


def _left(parameters: list[tuple[str, str, bool]] | None, given: int) -> list[tuple[str, str, bool]] | None:
    """What is left of parameters after the first ones by position are given."""
    if parameters is None:
        return None
    rest = list(parameters)
    while given and rest and rest[0][1] in ("positional_only", "positional"):
        del rest[0]
        given -= 1
    return rest


def _entries(av: AV) -> dict[str, AV]:
    assert isinstance(av.type, Dict)
    return dict(zip(av.type.keys, items_of(av), strict=True))


def _name(cx: Frame, function: Type, named: dict[str, AV], more: dict[str, AV]) -> None:
    twice = [name for name in more if name in named]
    if twice:
        title = f"{_called(function)}() got multiple values for keyword argument '{twice[0]}'"
        raise cx.type_error(title, "it is given twice")
    named.update(more)
