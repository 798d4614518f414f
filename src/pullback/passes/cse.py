"""Common subexpressions: a pure op with the same operands as one before it, in the same block or around it, goes.

    a = mul x, y                    a = mul x, y
    b = mul y, x            ->
    c = sub a, b                    c = sub a, a
    if p:                           if p:
      d = gt y, x                     (d is e)
    where e = lt x, y

Elements of arrays that nothing in the function writes count, elements of residual buffers too: they are written once;
and columns of tables whose rows keep what they are made with.
Arrays and records made by different ops stay different objects.  One walk with a scoped table; it only removes.
"""

from __future__ import annotations

from collections.abc import Hashable

from pullback.analysis.effects import Memory
from pullback.ir.node import Block, Function, Op, Program, Value

__all__ = ["run"]

_SWAPPED = {"gt": "lt", "ge": "le"}
_READS = frozenset({"array_get", "buffer_get"})


def run(function: Function, program: Program) -> None:
    """Remove repeated pure ops and reads."""
    _Numbering(Memory(function, program)).block(function.body)


class _Numbering:
    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.table: dict[Hashable, Op] = {}
        self.mapping: dict[Value, Value] = {}

    def block(self, block: Block) -> None:
        added: list[Hashable] = []
        kept: list[Op] = []
        mapping = self.mapping
        for op in block.ops:
            if mapping:
                op.operands = [mapping.get(v, v) for v in op.operands]
            if op.blocks:
                self.structured(op)
            elif self.eligible(op):
                key = _key(op)
                earlier = self.table.get(key)
                if earlier is not None:
                    mapping.update(zip(op.results, earlier.results, strict=True))
                    continue
                self.table[key] = op
                added.append(key)
            kept.append(op)
        block.ops = kept
        block.results = [mapping.get(v, v) for v in block.results]
        for key in added:
            del self.table[key]

    def structured(self, op: Op) -> None:
        if op.name != "elementwise":
            for inner in op.blocks:
                self.block(inner)
            return
        saved, self.table = self.table, {}  # the block is closed
        self.block(op.blocks[0])
        self.table = saved

    def eligible(self, op: Op) -> bool:
        if op.prim.name == "table_get":
            return not self.memory.rewritten(op)
        if op.prim.effects:
            return op.prim.name in _READS and self.memory.stable(op.operands[0])
        return bool(op.results)


def _key(op: Op) -> Hashable:
    name = op.prim.name
    if name == "const":
        return (type(op.attrs["value"]).__name__, repr(op.attrs["value"]), op.results[0].type)
    operands: tuple[Value, ...] = tuple(op.operands)
    if name in _SWAPPED:
        name, operands = _SWAPPED[name], operands[::-1]
    elif len(operands) == 2 and getattr(op.prim, "commutative", False) and id(operands[0]) > id(operands[1]):
        operands = operands[::-1]
    attrs = op.attrs
    return (name, operands, tuple(attrs.items()) if attrs else ())
