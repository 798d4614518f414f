"""Writes out counted loops with few trips and a small body.

    for 3, x: body (k, a) yield (mul a, a)     ->     b = mul x, x;  c = mul b, b;  d = mul c, c

A loop that is written out keeps no residuals and no counter.  Inner loops first; the result is at most `_MOST` ops, so
the pass grows code by a bounded amount and only where the loop's own cost goes away.  A loop that runs over a small
array of literal shape may grow further: with literal indices the array can live in registers (`promote`).
"""

from __future__ import annotations

from pullback.analysis.effects import VIEWS
from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.ir.walk import clone_ops, count_ops
from pullback.prims import get
from pullback.types import I64, ArrayRef

__all__ = ["run"]

_TRIPS = 8
_MOST = 64
_MOST_OF_SMALL = 512
_SMALL = 32  # elements of an array that may live in registers

_ELEMENTS = ("array_get", "array_inc", "array_swap")


def run(function: Function, program: Program) -> None:
    """Unroll every loop of at most 8 trips known now."""
    _Unroller().block(function.body)


class _Unroller:
    def __init__(self) -> None:
        self.constants: dict[Value, object] = {}
        self.mapping: dict[Value, Value] = {}
        self.small: set[Value] = set()  # arrays of few elements, and views of them

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
            elif op.name in ("array_zeros", "array_empty", "elementwise") or op.name in VIEWS:
                self.note(op)
            if op.name == "for" and self.wanted(op, trips := self.constants.get(op.operands[0])):
                assert isinstance(trips, int)
                ops += self.unrolled(op, trips)
            else:
                ops.append(op)
        block.ops = ops
        block.results = [mapping.get(v, v) for v in block.results]

    def note(self, op: Op) -> None:
        """Is the array that the op makes a small one."""
        if op.name in VIEWS:
            if op.operands[0] in self.small:
                self.small.add(op.result)
            return
        count = 1
        for value in op.operands[: int(str(op.attrs.get("rank", len(op.operands))))]:
            size = self.constants.get(value)
            count *= size if isinstance(size, int) else _SMALL + 1
        if count <= _SMALL:
            self.small.update(v for v in op.results if isinstance(v.type, ArrayRef))

    def wanted(self, op: Op, trips: object) -> bool:
        if not isinstance(trips, int) or trips > _TRIPS or op.attrs.get("parallel"):
            return False
        size = trips * (count_ops(op.blocks[0]) + 1)
        return size <= _MOST or (size <= _MOST_OF_SMALL and self.runs_over_small(op))

    def runs_over_small(self, loop: Op) -> bool:
        """Does an index into a small array depend on the trip."""
        varying = {loop.blocks[0].params[0]}
        for op in loop.blocks[0].walk():
            if varying.isdisjoint(op.operands):
                continue
            if op.operands[0] in self.small and (op.name in VIEWS or op.name in _ELEMENTS):
                return True
            if op.results and op.results[0].type == I64:
                varying.update(op.results)
        return False

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
