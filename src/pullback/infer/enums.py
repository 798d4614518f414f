"""Enums: members are known while compiling; where paths merge, a tag tells which one it is at run time.

    Color.RED            Member(Color.RED)
    c.value              of a union of members: chosen by the tag
    Color(1)             the member with that value, or ValueError
    Level.LOW + 1        a member of an IntEnum is its number
"""

from __future__ import annotations

from collections.abc import Callable
from enum import EnumType
from typing import Any

from pullback.infer.advice import nearest
from pullback.infer.engine import Frame
from pullback.infer.literals import literal
from pullback.infer.values import AV
from pullback.types import Class, Member, Str, show

__all__ = ["as_plain", "class_item", "enum_members", "lookup"]


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


def lookup(cx: Frame, cls: type, value: AV, equal: Callable[[AV, AV], AV]) -> AV:
    """cls(value): the member of that value, or ValueError.  `equal` compares as == does and gives a truth value."""
    if isinstance(value.type, Member) and isinstance(value.type.python, cls):
        return value
    members: list[Any] = list(cls)  # type: ignore[call-overload]

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
