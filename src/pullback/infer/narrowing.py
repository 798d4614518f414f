"""Unions of which more is known: fewer members, fewer tags.

    if x is not None: ...          x: None or float  ->  float
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pullback.infer.engine import Frame
from pullback.infer.values import AV, narrow
from pullback.types import Caught, Type, Union, distinct_slots, slot_positions, slots, union_of

__all__ = ["restrict", "without"]


def without(cx: Frame, av: AV, excluded: Callable[[Type], bool]) -> AV:
    """A union whose value is known not to be one of the excluded members."""
    assert isinstance(av.type, Union)
    return restrict(cx, av, tuple(m for m in av.type.members if not excluded(m)))


def restrict(cx: Frame, av: AV, possible: Sequence[Type]) -> AV:
    """The union's value where only `possible` members remain: fewer tags, renumbered."""
    if isinstance(av.type, Caught) and len(possible) == 1:
        return AV(possible[0], av.values)
    if not isinstance(av.type, Union) or tuple(possible) == av.type.members:
        return av
    kept = [m for m in av.type.members if m in possible]
    if not kept:
        return av
    if len(kept) == 1:
        return narrow(av, kept[0])
    target = union_of(*kept)
    assert isinstance(target, Union)
    tag = cx.e.integer(0)
    for number, member in enumerate(kept[1:], 1):
        hit = cx.e("eq", av.values[0], cx.e.integer(av.type.members.index(member)))
        tag = cx.e("select", hit, cx.e.integer(number), tag)
    if distinct_slots(target.members) == distinct_slots(av.type.members):
        return AV(target, (tag, *av.values[1:]))
    payload: list[object] = [None] * (len(slots(target)) - 1)
    for member in kept:
        inner = narrow(av, member)
        for position, value in zip(slot_positions(target, member), inner.values, strict=True):
            payload[position - 1] = value
    return AV(target, (tag, *payload))  # type: ignore[arg-type]
