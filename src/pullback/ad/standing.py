"""Numbers that the program itself keeps: what was stored in an array and stands there for good is no residual.

    q = div s, d                      reverse, before           after
    array_swap low, i, j, q             .. q ..                   q' = array_get low, i, j

No other write, at this trip or at a later one, may be to that element (`analysis.dependence`).  What takes one cheap op
to compute again from what is at hand anyway is not worth a read.
"""

from __future__ import annotations

from pullback.ad.costs import CHEAP, recompute_cost
from pullback.ad.primal import Primal
from pullback.ir.node import Op, Value
from pullback.prims.base import get
from pullback.types import Scalar

__all__ = ["Standing"]


class Standing:
    """Finds the array element that holds a value for good."""

    def __init__(self, primal: Primal) -> None:
        self.primal = primal
        self._writes: dict[Value, list[Op]] = {}
        self._reads: dict[Value, Op | None] = {}
        for op in primal.body.walk():
            if op.name == "array_swap" and isinstance(op.operands[-1].type, Scalar):
                self._writes.setdefault(op.operands[-1], []).append(op)

    def read(self, value: Value) -> Op | None:
        """An op that reads the value, and has it as its result, to be copied into the reverse half."""
        if value not in self._writes:
            return None
        if value not in self._reads:
            self._reads[value] = self._found(value)
        return self._reads[value]

    def _found(self, value: Value) -> Op | None:
        tables = self.primal.tables
        maker, home = tables.maker.get(value), tables.home.get(value)
        if home is None or (maker is not None and not maker.operands and recompute_cost(maker) == CHEAP):
            return None
        for write in self._writes[value]:
            if tables.place.get(write) is home and self.primal.dependence.final(write):
                read = Op(get("array_get"), write.operands[:-1], [value], span=write.span)
                tables.place[read] = home
                return read
        return None
