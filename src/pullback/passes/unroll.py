"""Writes out counted loops with few trips and a small body.

    for 3, x: body (k, a) yield (mul a, a)     ->     b = mul x, x;  c = mul b, b;  d = mul c, c

A loop that is written out keeps no residuals and no counter.  Inner loops first; the result is at most `_MOST` ops, so
the pass grows code by a bounded amount and only where the loop's own cost goes away.
"""

from __future__ import annotations

from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.ir.walk import clone_ops, count_ops
from pullback.prims import get
from pullback.types import I64

__all__ = ["run"]

_TRIPS = 8
_MOST = 64


def run(function: Function, program: Program) -> None:
    """Unroll every loop of at most 8 trips known now."""
    _Unroller().block(function.body)


class _Unroller:
    def __init__(self) -> None:
        self.constants: dict[Value, object] = {}
        self.mapping: dict[Value, Value] = {}

    def block(self, block: Block) -> None:
        mapping = self.mapping
        ops: list[Op] = []
        for op in block.ops:
            if mapping:
                op.operands = [mapping.get(v, v) for v in op.operands]
            for inner in op.blocks:
                self.block(inner)
            if op.name == "const":
                self.constants[op.results[0]] = op.attrs["value"]
            trips = self.constants.get(op.operands[0]) if op.name == "for" else None
            if isinstance(trips, int) and trips <= _TRIPS and trips * (count_ops(op.blocks[0]) + 1) <= _MOST:
                ops += self.unrolled(op, trips)
            else:
                ops.append(op)
        block.ops = ops
        block.results = [mapping.get(v, v) for v in block.results]

    def unrolled(self, op: Op, trips: int) -> list[Op]:
        body = op.blocks[0]
        carried = op.operands[1:]
        ops: list[Op] = []
        for k in range(trips):
            index = Value(I64, body.params[0].name)
            ops.append(Op(get("const"), (), (index,), {"value": k, "type": I64}, (), op.span))
            names = dict(zip(body.params, [index, *carried], strict=True))
            ops += clone_ops(body.ops, names)
            carried = [names.get(v, v) for v in body.results]
        self.mapping.update(zip(op.results, carried, strict=True))
        return ops
