"""Enums: members are known while compiling; where paths merge, a tag tells which one it is at run time.

    Color.RED            Member(Color.RED)
    c.value              of a union of members: chosen by the tag
    Color(1)             the member with that value, or ValueError
    Level.LOW + 1        a member of an IntEnum is its number
    Mode.A | Mode.B      flags are known while compiling as well; Mode.A in mode, ~mode, if mode
"""

from __future__ import annotations

import contextlib
import operator as operators
from collections.abc import Callable
from enum import EnumType, Flag
from typing import Any

from pullback.infer.advice import nearest
from pullback.infer.engine import Frame
from pullback.infer.literals import literal
from pullback.infer.values import AV
from pullback.types import Class, Member, Str, show

__all__ = ["as_plain", "class_item", "enum_members", "flag_contains", "flag_result", "lookup"]

_MOST_BITS = 6
"""Flags whose combinations a number of run time is looked up in."""

_FLAGS: dict[str, Callable[..., Any]] = {
    "|": operators.or_, "&": operators.and_, "^": operators.xor, "~": operators.invert,
}  # fmt: skip


def enum_members(cls: type) -> list[AV]:
    """The members in the order in which they are defined."""
    items: list[Any] = list(cls)  # type: ignore[call-overload]
    return [AV(Member(item)) for item in items]


def as_plain(cx: Frame, av: AV) -> AV:
    """A member of an IntEnum, StrEnum, ... as the int or str that it also is; any other value itself."""
    if isinstance(av.type, Member) and isinstance(av.type.python, int | float | str):
        value: Any = av.type.python
        return literal(cx, value.value)
    return av


def flag_result(cx: Frame, operator: str, *operands: AV) -> AV | None:
    """|, &, ^ and ~ of flags, of which an IntFlag may meet a known int; None for other operands."""
    values = [av.type.python if isinstance(av.type, Member) else av.literal for av in operands]
    flags = [value for value in values if isinstance(value, Flag)]
    if not flags or operator not in _FLAGS or _own(type(flags[0]), operator):
        return None
    if not all(type(value) is type(flags[0]) or (type(value) is int and isinstance(flags[0], int)) for value in values):
        return None
    result = _FLAGS[operator](*values)
    return AV(Member(result)) if isinstance(result, Flag) else literal(cx, result)


def _own(cls: type, operator: str) -> bool:
    """Has the user's class an operator of its own in place of that of flags?"""
    name = f"__{_FLAGS[operator].__name__.strip('_')}__"
    return getattr(getattr(cls, name), "__module__", "") != "enum"


def flag_contains(container: AV, item: AV) -> bool | None:
    """Are all bits of one flag in the other; None for other operands."""
    match container.type, item.type:
        case (Member(Flag() as whole), Member(Flag() as part)) if type(whole) is type(part):
            return part in whole
    return None


def lookup(cx: Frame, cls: type, value: AV, equal: Callable[[AV, AV], AV]) -> AV:
    """cls(value): the member of that value, or ValueError.  `equal` compares as == does and gives a truth value."""
    if isinstance(value.type, Member) and isinstance(value.type.python, cls):
        return value
    members = _possible(cls, value.literal)

    def rest(position: int) -> list[AV]:
        if position == len(members):
            return [_absent(cx, cls, value)]
        member = members[position]
        hit = equal(value, literal(cx, member.value))
        if not hit.values:
            return [AV(Member(member))] if hit.literal else rest(position + 1)
        return cx.choose(hit.value, lambda: [AV(Member(member))], lambda: rest(position + 1))

    (found,) = rest(0)
    return found


def _possible(cls: type, known: object) -> list[Any]:
    """The members that a value may stand for: of flags also what several make together."""
    members: list[Any] = list(cls)  # type: ignore[call-overload]
    if not issubclass(cls, Flag):
        return members
    if type(known) is int:
        with contextlib.suppress(ValueError):
            return [cls(known)]
        return []
    together = {cls(0)}
    for member in members[:_MOST_BITS]:
        together |= {flag | member for flag in together}
    return sorted(together, key=lambda flag: flag.value)


def _absent(cx: Frame, cls: type, value: AV) -> AV:
    known = value.literal if isinstance(value.literal, int | float | str) else None
    shown = repr(known) if known is not None else "{0}"
    payload = value.values if known is None and len(value.values) == 1 else ()
    cx.check(cx.e.boolean(False), "ValueError", f"{shown} is not a valid {cls.__qualname__}", *payload)
    return cx.stop()


def class_item(cx: Frame, cls: type, index: AV) -> AV:
    """cls["RED"], a member by its name; Generic[float], the class itself."""
    if not isinstance(cls, EnumType):
        if hasattr(cls, "__class_getitem__"):
            return AV(Class(cls))
        raise cx.type_error(f"type '{cls.__name__}' is not subscriptable", "this is a class, not an object of it")
    if not isinstance(index.type, Str):
        raise cx.error(f"{cls.__name__}[...] needs the name of a member written in the source",
                       f"this is {show(index.type)}", f"write {cls.__name__}(value) to look up a value")  # fmt: skip
    member: Any = cls.__members__.get(index.type.value)
    if member is None:
        raised = ("KeyError", repr(index.type.value))
        raise cx.error(f"the enum {cls.__name__} has no member {index.type.value!r}", "this name does not exist",
                       nearest(index.type.value, cls.__members__), raised=raised)  # fmt: skip
    return AV(Member(member))
