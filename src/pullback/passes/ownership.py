"""Gives memory back as soon as it is not used any more: a `free` after the last use, in the block that allocates.

    t = elementwise{new} n, a {...}            t = elementwise{new} n, a {...}
    s = elementwise{sum} n, t {...}     ->     s = elementwise{sum} n, t {...}
    r = mul s, s                               free t
                                               r = mul s, s

Only for arrays and buffers that nothing else can reach: not yielded, returned, stored, selected, or given to a call
that might keep them, directly or through a view.  What stays unfreed is freed at the end of the outermost call.
"""

from __future__ import annotations

from pullback.analysis.effects import ALLOCATIONS, VIEWS, is_reference
from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.prims import get
from pullback.types import Box, Buffer

__all__ = ["run"]

# Operand positions that may hold a reference without keeping it; None: all.
_BORROWING: dict[str, frozenset[int] | None] = {
    "array_size": None, "array_get": None, "array_inc": None, "array_same": None, "elementwise": None, "matmul": None,
    "matmul_inc": None, "buffer_get": None, "buffer_inc": None, "buffer_put": frozenset({0}),
}  # fmt: skip


def run(function: Function, program: Program) -> None:
    """Insert `free` for everything that does not escape."""
    _Owner().block(function.body)


class _Owner:
    """`last[value]`: the position, in the block that allocated it, of the last op that uses it."""

    def __init__(self) -> None:
        self.home: dict[Value, tuple[Block, Value]] = {}  # reference -> its block and the allocation behind it
        self.last: dict[Value, int] = {}
        self.escaped: set[Value] = set()
        self.positions: dict[Block, int] = {}

    def block(self, block: Block) -> None:
        made: list[Value] = []
        for position, op in enumerate(block.ops):
            self.positions[block] = position
            self.op(op)
            if op.name in ALLOCATIONS:
                for value in op.results:
                    if is_reference(value.type):
                        self.home[value] = block, value
                        self.last[value] = position
                        made.append(value)
        for value in block.results:
            self.keep(value)
        self.release(block, made)

    def op(self, op: Op) -> None:
        borrowing = None if _keeps_nothing(op) else _BORROWING.get(op.name, frozenset())
        view = op.name in VIEWS
        for i, value in enumerate(op.operands):
            found = self.home.get(value)
            if found is None:
                continue
            block, allocation = found
            self.last[allocation] = self.positions[block]
            if view:
                self.home[op.results[0]] = found
            elif (borrowing is not None and i not in borrowing) or op.name == "free":
                self.keep(value)
        for inner in op.blocks:
            self.block(inner)

    def keep(self, value: Value) -> None:
        found = self.home.get(value)
        if found is not None:
            self.escaped.add(found[1])

    def release(self, block: Block, made: list[Value]) -> None:
        after: dict[int, list[Value]] = {}
        for value in made:
            if value not in self.escaped:
                after.setdefault(self.last[value], []).append(value)
        if not after:
            return
        ops: list[Op] = []
        for position, op in enumerate(block.ops):
            ops.append(op)
            ops += [Op(get("free"), [value], (), {}, (), op.span) for value in after.get(position, ())]
        block.ops = ops


def _keeps_nothing(op: Op) -> bool:
    """A call that returns no reference and gets no record or buffer has nowhere to keep its arguments."""
    if op.name != "call" or any(is_reference(v.type) for v in op.results):
        return False
    return not any(isinstance(v.type, Box | Buffer) for v in op.operands)
