"""What a derivation keeps for its reverse half, in words.

    Residual(function="f", span of `t = exp(s)`, value="t", depth=1, size="8 bytes a trip",
             wanted="mul at line 4", why="exp costs more to run again than to store")

Made where a loop or function is closed, before anything is rewritten.
"""

from __future__ import annotations

import linecache
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pullback.ad.costs import is_expensive
from pullback.diagnostic import Span
from pullback.ir.node import Block, Op, Value
from pullback.types import ArrayRef, Buffer, Scalar, Table

if TYPE_CHECKING:
    from pullback.ad.residuals import Closer
    from pullback.ad.reverse import Pair

__all__ = ["Residual", "describe", "shown"]

_READS = frozenset({"array_get", "buffer_get", "table_get", "slot_get", "unbox", "array_swap"})


@dataclass(frozen=True, slots=True)
class Residual:
    """One value that is kept: where it comes from, how big it is, who needs it, why it is not made again."""

    function: str
    span: Span
    value: str
    depth: int
    size: str
    wanted: str
    why: str


def describe(closer: Closer, values: Sequence[Value], reverse: Block, pair: Pair | None) -> list[Residual]:
    """The residuals of a loop that is about to be closed, or (no pair) of the function."""
    return [_Describer(closer, reverse, pair).one(value) for value in values]


class _Describer:
    def __init__(self, closer: Closer, reverse: Block, pair: Pair | None) -> None:
        self.closer, self.reverse, self.pair = closer, reverse, pair
        self.makers = closer.tables.maker

    def one(self, value: Value) -> Residual:
        """All about one value."""
        op = self.makers.get(value)
        holder = self.closer.tables.holder.get(self.closer.tables.home[value])
        span = op.span if op is not None else holder.span if holder is not None else self.closer.primal.function.span
        depth = self._depth(self.pair.forward) + 1 if self.pair is not None else 0
        size = _size(value) + (" a trip" if self.pair is not None else "")
        return Residual(
            self.closer.primal.function.name, span, self.text(value), depth, size, self._wanted(value), self._why(value)
        )

    def text(self, value: Value, deep: int = 1) -> str:
        """Its name, or the op that makes it."""
        op = self.makers.get(value)
        if value.name or op is None:
            return value.name or "a carried value"
        if op.name == "const":
            return str(op.attrs["value"])
        if not deep or not op.operands:
            return op.name
        return f"{op.name}({', '.join(self.text(v, deep - 1) for v in op.operands[:3])})"

    def _depth(self, op: Op) -> int:
        found, block = 0, self.closer.tables.place.get(op)
        while block is not None:
            holder = self.closer.tables.holder.get(block)
            found += holder is not None and holder.name in ("for", "while")
            block = None if holder is None else self.closer.tables.place.get(holder)
        return found

    def _wanted(self, value: Value) -> str:
        for op in self.reverse.walk():
            if value in op.operands:
                what = "the rule of a whole-array operation" if op.name == "elementwise" else op.name
                return f"{what} of the reverse of line {op.span.line}"
            if any(value in block.results for block in op.blocks):
                return f"the reverse of line {op.span.line}"
        return "making another value again that the reverse needs"

    def _why(self, value: Value) -> str:
        op = self.makers.get(value)
        if op is None:
            return "carried from trip to trip: an earlier trip made it"
        if op.name == "call":
            return "the result of a call"
        if op.name in ("for", "while"):
            return "the result of a loop"
        if op.name == "if":
            return "which branch made it is not followed again"
        if op.name in _READS:
            return "what it was read from is overwritten later"
        if isinstance(value.type, ArrayRef):
            return "a whole array is not computed twice"
        if isinstance(value.type, Buffer):
            return "the residuals of an inner loop"
        if isinstance(value.type, Scalar) and is_expensive(op):
            return f"{op.name} costs more to run again than to store"
        return "less to store than what it is made of"


def _size(value: Value) -> str:
    match value.type:
        case Scalar(dtype):
            return f"{dtype.bytes} bytes"
        case ArrayRef(dtype, rank, _):
            return f"{dtype.bytes} bytes for each element of an array of rank {rank}"
        case Buffer():
            return "a buffer"
        case Table():
            return "a table"
    return "a record"


def shown(residuals: Sequence[Residual]) -> str:
    """A paragraph for each function, a line and its reason for each value."""
    if not residuals:
        return "nothing is kept"
    lines: list[str] = []
    for function in dict.fromkeys(r.function for r in residuals):
        lines.append(f"{function}:")
        rows = [r for r in residuals if r.function == function]
        for row in sorted(rows, key=lambda r: (r.span.line, r.depth)):
            text = linecache.getline(row.span.file, row.span.line).strip()
            place = f"{os.path.basename(row.span.file)}:{row.span.line}"
            loop = {0: "outside of loops", 1: "in a loop"}.get(row.depth, f"in {row.depth} loops")
            lines.append(f"  {place}: {text}")
            lines.append(f"    {row.value}, {loop}: {row.size}")
            lines.append(f"    needed by {row.wanted}; kept because: {row.why}")
    return "\n".join(lines)
