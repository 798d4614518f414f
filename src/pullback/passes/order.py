"""Lets the trips of reverse loops run in any order where all that they do is add.

    for n, s {reverse}:                      for n, s {any_order}:
      body (k, a):                             body (k, a):
        j = sub last, k                          v = array_get x, k
        v = array_get x, j             ->        array_inc g, k, v
        array_inc g, j, v                        yield (add a, v)
        yield (add a, v)

The order in which a derivative adds up its parts is nobody's program: sums of such a loop may be rounded in any order,
so the code generator may keep several of them, and the trips may as well run forwards, which is better for vectors.
Other sums keep the order that the user wrote.
"""

from __future__ import annotations

from pullback.analysis.overlap import Overlap
from pullback.analysis.sums import carried_sums
from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.ir.walk import substitute, uses
from pullback.prims.base import Emitter, get

__all__ = ["ANY_ORDER", "REVERSE", "run"]

REVERSE, ANY_ORDER = "reverse", "any_order"  # attributes of loops
_READS = frozenset({"array_get", "buffer_get"})


def run(function: Function, program: Program) -> None:
    """Mark the loops of derivatives that only add, and turn them round."""
    if any(op.attrs.get(REVERSE) for op in function.body.walk()):
        _Order(Overlap(function, program)).block(function.body)


class _Order:
    def __init__(self, overlap: Overlap) -> None:
        self.overlap = overlap

    def block(self, block: Block) -> None:
        ops: list[Op] = []
        for op in block.ops:
            for inner in op.blocks:
                self.block(inner)
            if op.name == "for" and op.attrs.get(REVERSE) and self.only_adds(op.blocks[0]):
                if carried_sums(op.blocks[0]) is not None:
                    op.attrs[ANY_ORDER] = True
                    ops += self.forwards(op)
            ops.append(op)
        block.ops = ops

    def only_adds(self, body: Block) -> bool:
        """Does the body change memory by additions alone, to arrays that it does not read."""
        ops = list(body.walk())
        if any(op.name not in ("if", *_READS, "array_inc") and (op.blocks or op.prim.effects) for op in ops):
            return False
        read = [op.operands[0] for op in ops if op.name in _READS]
        added = [op.operands[0] for op in ops if op.name == "array_inc"]
        return not any(self.overlap.meet(target, array) for target in added for array in read)

    def forwards(self, loop: Op) -> list[Op]:
        """Let the counter count up where it is only taken away from other numbers; ops to put before the loop."""
        body, e = loop.blocks[0], Emitter(Block(), loop.span)
        trips, counter = loop.operands[0], body.params[0]
        indices = [op for op in body.ops if op.name == "sub" and op.operands[1] is counter]
        inside = {*body.params, *(r for op in body.ops for r in op.results)}
        if not indices or uses(body)[counter] != len(indices) or any(op.operands[0] in inside for op in indices):
            return []
        same: dict[Value, Value] = {}
        for op in indices:
            if self.is_last(op.operands[0], trips):
                same[op.result] = counter
            else:
                start = e("sub", op.operands[0], e("sub", trips, e.integer(1)))
                op.prim, op.operands = get("add"), [start, counter]
        body.ops = [op for op in body.ops if not (op.results and op.results[0] in same)]
        substitute(body, same)
        return e.block.ops

    def is_last(self, value: Value, trips: Value) -> bool:
        """Is the value trips - 1."""
        op = self.overlap.maker.get(value)
        if op is None:
            return False
        if op.name == "const":
            count = self.overlap.maker.get(trips)
            return count is not None and count.name == "const" and op.attrs["value"] == _number(count) - 1
        step = {"add": -1, "sub": 1}.get(op.name)
        if step is None or op.operands[0] is not trips:
            return False
        amount = self.overlap.maker.get(op.operands[1])
        return amount is not None and amount.name == "const" and _number(amount) == step


def _number(op: Op) -> int:
    return int(str(op.attrs["value"]))
