"""Loops whose trips are written out one after the other, because what they count or carry decides a structure.

    for i in range(a.ndim): s += a.sum(axis=i)        ->        s += a.sum(axis=0); s += a.sum(axis=1)
    while a.ndim > 1: a = a.max(axis=0)               ->        a = a.max(axis=0); a = a.max(axis=0)

The first by `static.trips`, where a number is asked for; the second here.
"""

from __future__ import annotations

from pullback.infer.engine import Frame
from pullback.infer.static import MOST_TRIPS, ask_for_loop
from pullback.infer.values import AV
from pullback.ir.node import Op
from pullback.types import Array, Constant, Type, Union

__all__ = ["is_of_ranks", "noted", "written_out"]


def is_of_ranks(type_: Type) -> bool:
    """Is it an array of one of several ranks."""
    ranks = {m.rank for m in type_.members if isinstance(m, Array)} if isinstance(type_, Union) else ()
    return len(ranks) > 1


def written_out(cx: Frame, op: Op, carried: list[AV]) -> tuple[list[AV], bool]:
    """`_peeled` of a loop that is asked for: the rest of one that does not end soon is a loop again."""
    cond, body = op.blocks
    for _ in range(MOST_TRIPS):
        trial = cx.branch(lambda now=carried: cx.run(cond, now)[0])  # type: ignore[misc]
        if trial.dead:
            return carried, False
        (goes_on,) = trial.results
        condition = goes_on.type
        if not isinstance(condition, Constant):
            cx.definitions.index(trial.block)
            ask_for_loop(cx, op, goes_on.value)
            return carried, False
        cx.e.block.ops += trial.block.ops
        if not condition.value:
            return carried, True
        carried = cx.run(body, carried)[0]
        if cx.dead:
            return carried, True
    return carried, False


def noted(cx: Frame, op: Op, avs: list[AV]) -> list[AV]:
    """The values, which change from trip to trip of the loop."""
    cx.definitions.loops.update((value, op) for av in avs for value in av.values)
    return avs
