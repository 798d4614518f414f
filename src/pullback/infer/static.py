"""Ints and bools that must be known while compiling: axes, ranks, keepdims, bounds of slices of tuples.

    def norm(a, axis):                              norm(a, 1)  ->  norm(array, int): an axis must be known, and this
        return a / a.sum(axis=axis, keepdims=True)      comes from the parameter `axis`  ->  Demanded({parameter 1})
                                                    inferred anew, the call reaches norm(array, int 1)

Numbers are run-time values, and no code is made for each of them, unless one decides the structure of what is
computed.  Then it is looked for in the ops that make it (`knowledge`).  Where they lead to parameters, to values of
globals and the like, or to what a loop counts, these are asked for, and inference starts again: calls pass on as part
of the types what is asked for (`as_asked`), values that come from Python are checked at every call of the code, loops
are written out.  What was asked for and still is not known is data of the run, and the use of it is refused.

A handler that needs a number calls `static_int`, `static_flag` or `static_items`; that is all there is to do.
"""

from __future__ import annotations

from collections.abc import Sequence

from pullback.diagnostic import CompileError, Diagnostic
from pullback.infer.asked import Ask, Demanded, Reason, note
from pullback.infer.engine import Code, Frame
from pullback.infer.heaps import heap_of_type
from pullback.infer.values import AV, items_of
from pullback.ir.node import Op, Value
from pullback.runtime.fixed import Path, fix, is_static, leaves, slot_at, value_at
from pullback.types import Constant, List, Tuple, Type, show, slots

__all__ = [
    "MOST_TRIPS", "as_asked", "ask_around", "ask_count", "ask_for_loop", "fixed_argument", "fixed_place",
    "known_numbers", "static_flag", "static_int", "static_items", "trips", "wants_fixed",
]  # fmt: skip

MOST_TRIPS = 64  # of a loop that is written out because a number in it must be known


# ------------------------------------------------------------------------------------------------------------- uses


def static_int(cx: Frame, av: AV, what: str = "an axis") -> int:
    """The int that a value is; where it is not known yet, what it comes from is asked for.  what: begins messages."""
    number = cx.number_of(av)
    if number is not None:
        return number
    if not is_static(av.type):
        raised = f"'{show(av.type)}' object cannot be interpreted as an integer"
        raise cx.error(f"{what} must be an int", f"this is {show(av.type)}", raised=("TypeError", raised))
    found: set[Ask] = set()
    reason = cx.definitions.trace(av.value, found)
    raise _refused(cx, what, _asking(cx, found, reason), "pass it as an argument, or write the number")


def static_flag(cx: Frame, av: AV, what: str) -> bool:
    """The truth of a value that must be known, as keepdims must."""
    if isinstance(av.type, Constant):
        return av.type.value
    if not is_static(av.type):
        raise cx.error(f"{what} must be True or False", f"this is {show(av.type)}", "write True or False")
    return bool(static_int(cx, av, what))


def static_items(cx: Frame, av: AV, what: str) -> list[AV]:
    """The items of a tuple or list whose length must be known; of one that a comprehension makes, it is asked for."""
    if isinstance(av.type, Tuple | List):
        return items_of(av)
    heap = heap_of_type(av.type)
    if heap is None or heap.kind not in ("list", "tuple"):
        raise cx.error(f"{what} must be a tuple", f"this is {show(av.type)}", "write a tuple")
    # What it was made of may have gone through functions of lists: all that could be of fixed structure is asked for.
    reason = _asking(cx, {Ask("made", op) for op in cx.session.asked.moved}, None)
    raise _refused(cx, f"the length of {what}", reason, "write a tuple of as many items as there are")


def _asking(cx: Frame, asks: set[Ask], reason: Reason | None) -> Reason:
    """Ask, if there is anything to ask for; else the reason why what was asked for is not known."""
    if reason is not None:
        moved = {Ask("made", op) for op in cx.session.asked.moved}
        if reason.kept and not moved <= cx.session.asked.asks:
            raise Demanded(moved)  # it may be an item of such a list
        return reason
    if not asks <= cx.session.asked.asks:
        raise Demanded(asks)
    reasons = [cx.session.asked.reasons[ask] for ask in asks if ask in cx.session.asked.reasons]
    return reasons[0] if reasons else Reason("it is another number from call to call, or from trip to trip of a loop")


def _refused(cx: Frame, what: str, reason: Reason, help: str) -> CompileError:
    notes = (f"the number comes from {reason.span}",) if reason.span.line and reason.span != cx.span else ()
    return CompileError(Diagnostic(f"{what} must be known while compiling", cx.span, reason.text, help, notes))


# ------------------------------------------------------------------------------------------------------------ calls


def as_asked(cx: Frame, code: Code, types: tuple[Type, ...], values: Sequence[Value]) -> tuple[Type, ...]:
    """The types of captured values and arguments of a call, with the numbers in them that the function asks for."""
    asked = cx.session.asked
    positions = asked.parameters.get(code, set())
    if cx.code is cx.session.entry:
        types = _as_known(cx, types, values)
    elif not positions:
        return types
    found: list[Type] = []
    start = 0
    for position, type_ in enumerate(types):
        own = values[start : start + len(slots(type_))]
        start += len(own)
        paths = asked.paths_of("parameter", (code, position)) if position in positions else ()
        numbers = {path: _given(cx, Ask("parameter", (code, position), path), type_, own) for path in sorted(paths)}
        found.append(fix(type_, {path: number for path, number in numbers.items() if number is not None}))
    return tuple(found)


def _as_known(cx: Frame, types: Sequence[Type], values: Sequence[Value]) -> tuple[Type, ...]:
    """The types with all numbers that are known: the entry hands on what it is made for."""
    found: list[Type] = []
    start = 0
    for type_ in types:
        numbers = {path: cx.definitions.number(values[start + slot]) for path, _, slot in leaves(type_)}
        found.append(fix(type_, {path: number for path, number in numbers.items() if number is not None}))
        start += len(slots(type_))
    return tuple(found)


def _given(cx: Frame, ask: Ask, type_: Type, values: Sequence[Value]) -> int | None:
    """The number that is passed where one is asked for; what it depends on is asked for in turn."""
    slot = slot_at(type_, ask.path)
    if slot is None:
        return None
    number = cx.definitions.number(values[slot])
    if number is None:
        note(cx, ask, values[slot])
    return number


def fixed_place(cx: Frame, where: object, type_: Type, value: object) -> Type:
    """The type of what a global, a cell, a default or an argument holds, with the numbers that are asked for."""
    return _with_values(type_, value, cx.session.asked.paths_of("place", where))


def fixed_argument(cx: Frame, code: Code, position: int, type_: Type, value: object, *, whole: bool) -> Type:
    """The type of an argument that Python passes, with the numbers that are asked for, or (`whole`) all of them."""
    asked = cx.session.asked.paths_of("parameter", (code, position))
    return _with_values(type_, value, {path for path, _, _ in leaves(type_)} if whole else asked)


def _with_values(type_: Type, value: object, paths: set[Path]) -> Type:
    found: dict[Path, int] = {}
    for path in paths:
        number = value_at(value, path) if slot_at(type_, path) is not None else None
        if number is not None:
            found[path] = number
    return fix(type_, found)


# ------------------------------------------------------------------------------------------------ loops, containers


def trips(cx: Frame, op: Op, count: Value) -> int | None:
    """How many trips of a loop are written out: those of one that is asked for, where their number is known."""
    ask = Ask("loop", op)
    if ask not in cx.session.asked.asks:
        return None
    number = cx.definitions.number(count)
    if number is None:
        ask_for_loop(cx, op, count)
        return None
    if number > MOST_TRIPS:
        text = f"the loop has {number} trips, more than the {MOST_TRIPS} that are written out"
        cx.session.asked.reasons.setdefault(ask, Reason(text, op.span))
        return None
    return max(number, 0)


def ask_for_loop(cx: Frame, op: Op, value: Value) -> None:
    """A loop must be written out, but its count, or whether it goes on, is not known yet: ask for that."""
    note(cx, Ask("loop", op), value)


def ask_count(cx: Frame, made: Op | None, count: Value) -> None:
    """A list or tuple is made of as many items as are not known yet; if that must be known, ask for it."""
    if made is None:
        return
    cx.session.asked.moved.add(made)
    if wants_fixed(cx, made):
        note(cx, Ask("made", made), count)


def known_numbers(cx: Frame, made: Op | None, items: Sequence[AV]) -> list[int] | None:
    """The numbers that all items are, where that is known; if it must be, ask for those that are not."""
    numbers = [cx.number_of(item) for item in items]
    unknown = [item for item, number in zip(items, numbers, strict=True) if number is None]
    for item in unknown:
        ask_count(cx, made, item.value)
    return None if unknown else [number for number in numbers if number is not None]


def wants_fixed(cx: Frame, op: Op | None) -> bool:
    """Must what a display or comprehension makes be of fixed structure."""
    return op is not None and cx.session.asked.has("made", op)


def ask_around(cx: Frame, made: Op, loops: Sequence[Op], conditions: Sequence[Value]) -> None:
    """A comprehension that must be of fixed structure adds an item inside loops and branches: ask for these."""
    ask = Ask("made", made)
    cx.session.asked.moved.add(made)
    if ask not in cx.session.asked.asks:
        return
    found = {Ask("loop", op) for op in loops}
    reason: Reason | None = None
    for condition in conditions:
        reason = reason or cx.definitions.trace(condition, found)
    if reason is None and not found <= cx.session.asked.asks:
        raise Demanded(found)
    reasons = [cx.session.asked.reasons[loop] for loop in found if loop in cx.session.asked.reasons]
    if reason or reasons:
        cx.session.asked.reasons.setdefault(ask, reason or reasons[0])
