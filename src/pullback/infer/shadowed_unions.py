"""Unions with arrays that have shadows: a union of the arrays, and one of the shadows in the same slots, tag for tag.

    None | Shadowed(a, s)      <->      None | a,  None | s
"""

from __future__ import annotations

from pullback.infer.dispatch import dispatch
from pullback.infer.engine import Frame
from pullback.infer.shadow_ops import zeros_like
from pullback.infer.shadowed import inside, is_tracked, pair, rebuilt_as, tracks
from pullback.infer.values import AV, members, pair_of_shadowed
from pullback.types import Shadowed, Union

__all__ = ["halves", "joined"]


def halves(cx: Frame, whole: AV) -> tuple[AV, AV]:
    """The union with the arrays, and with their shadows in the place of them."""
    primal, shadow = (
        dispatch(cx, [whole], lambda cx, one, number=number: _half(cx, one[0], number))  # type: ignore[misc]
        for number in range(2)
    )
    return primal, shadow


def _half(cx: Frame, av: AV, number: int) -> AV:
    if isinstance(av.type, Shadowed):
        return pair_of_shadowed(av)[number]
    if is_tracked(av.type):
        return zeros_like(cx, av) if number else av  # a constant
    return rebuilt_as(av.type, [_half(cx, item, number) for item in inside(av)]) if tracks(av.type) else av


def joined(cx: Frame, primal: AV, shadow: AV) -> AV:
    """The union of which these are the halves."""
    beside = {member.type: member for member in members(shadow)} if isinstance(shadow.type, Union) else {}
    return dispatch(cx, [primal], lambda cx, one: _joined(one[0], beside.get(one[0].type, shadow)))


def _joined(primal: AV, shadow: AV) -> AV:
    if isinstance(primal.type, Shadowed) or is_tracked(primal.type):
        return pair(primal, shadow)
    if not tracks(primal.type):
        return primal
    items = zip(inside(primal), inside(shadow), strict=True)
    return rebuilt_as(primal.type, [_joined(*item) for item in items])
