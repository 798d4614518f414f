"""Which classes of arrays are known by several names at once.

    for t, u0, v0:                 u0, v0 moved into the loop: nobody uses them from here on
      body (t, u, v): ...          every array has one name at a time: not entangled
        yield v, u
    c = if p {yield a} {yield b}   a is used below: entangled
    z = array_get a, i

Where each array has one name at a time, a merge moves it: what belongs to it (its shadow) can be handed on from name to
name.  Otherwise the identity of the memory has to be followed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pullback.ir.node import Block, Op, Value
from pullback.types import ArrayRef, Table

if TYPE_CHECKING:
    from pullback.analysis.alias import Aliases, Key

__all__ = ["entangled"]

# Ops that do not touch the elements.
_HARMLESS = frozenset({
    "array_size", "free", "array_overlap", "array_same", "array_beside", "array_contiguous", "array_fits",
})  # fmt: skip
_SHARING = frozenset({
    "call", "box", "unbox", "slot_get", "buffer_get", "buffer_put", "select", "table_get", "table_set", "table_swap",
})  # fmt: skip


def entangled(aliases: Aliases, body: Block) -> set[Key]:
    """Classes with an array that has several names at once, or that records, buffers, tables or calls know."""
    walk = _Moves(aliases)
    walk.block(body, set(), set(body.params))
    for value in body.results:
        walk.use(value, walk.gone)
    return {aliases.find(value) for value in walk.broken}


class _Moves:
    """Walks the blocks in order with the set of arrays that have moved on."""

    def __init__(self, aliases: Aliases) -> None:
        self.aliases = aliases
        self.broken: list[Value] = []
        self.gone: set[Value] = set()

    def known(self, value: Value) -> bool:
        """An array, or a table that holds some."""
        return isinstance(value.type, ArrayRef | Table) and self.aliases.refers(value)

    def use(self, value: Value, gone: set[Value]) -> None:
        if isinstance(value.type, ArrayRef) and self.aliases.base(value) in gone:
            self.broken.append(value)

    def block(self, block: Block, gone: set[Value], own: set[Value]) -> None:
        """`own`: what the innermost loop body around defines, the only arrays that may move here."""
        for op in block.ops:
            if op.name in _SHARING:
                self.broken += [v for v in (*op.operands, *op.results) if self.known(v)]
            elif op.name == "if":
                self.branches(op, gone, own)
            elif op.name in ("for", "while"):
                self.loop(op, gone, own)
            elif op.name not in _HARMLESS:
                for value in op.operands:
                    self.use(value, gone)
            own.update(op.results)
        self.gone = gone

    def move(self, values: list[Value], gone: set[Value], own: set[Value]) -> None:
        """The arrays get other names."""
        moved: set[Value] = set()
        for value in values:
            if isinstance(value.type, ArrayRef):
                base = self.aliases.base(value)
                if base in gone or base in moved or base not in own or self.aliases.shares(base):
                    self.broken.append(value)
                moved.add(base)
        gone |= moved

    def branches(self, op: Op, gone: set[Value], own: set[Value]) -> None:
        after: set[Value] = set()
        for block in op.blocks:
            mine, inner = set(gone), set(own)
            self.block(block, mine, inner)
            self.move(block.results, mine, inner)
            after |= mine
        gone |= after

    def loop(self, op: Op, gone: set[Value], own: set[Value]) -> None:
        body = op.blocks[-1]
        self.move(op.operands, gone, own)
        for block in op.blocks[:-1]:
            self.block(block, set(gone), set(block.params))
        mine, inner = set(gone), set(body.params)
        self.block(body, mine, inner)
        self.move(body.results, mine, inner)
