"""What schedules of snapshots ask for (`ad.schedule`).

    b = memory_budget()              i64: the bytes that residuals may take, as set when the program runs
    r = trip_bytes{loop}(s)          i64: the residuals of one trip of that loop; differentiation makes a number of it.
                                     s: what to take for an array whose size is not known before the loop.
                                     Where the loop has no reverse there are none: 0
"""

from __future__ import annotations

from collections.abc import Sequence

from pullback.prims.base import Attrs, Prim, register
from pullback.types import I64, Machine

__all__ = ["OVER_BUDGET", "PRIMS"]

OVER_BUDGET = "over the memory budget"
"""What a `check` names in place of an exception where the call should be made again by code that keeps snapshots."""


def _number(operands: Sequence[Machine], attrs: Attrs) -> tuple[Machine, ...]:
    if any(operand != I64 for operand in operands):
        raise TypeError("sizes are i64")
    return (I64,)


PRIMS = (
    register(Prim(name="memory_budget", doc="bytes that residuals may take", infer=_number)),
    register(Prim(name="trip_bytes", doc="bytes that a trip of a loop keeps", infer=_number)),
)
