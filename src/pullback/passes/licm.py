"""Moves what does not change out of loops.

    for n, s:                                  t = if (gt n, 0) {e = exp x; yield e} else {yield 0.0}
      body (k, a):                             for n, s:
        e = exp x                       ->       body (k, a):
        b = mul a, e                               b = mul a, t
        yield b                                    yield b

Cheap ops that are linear or integer move freely.  Dear ones, and checks and reads whose operands do not change, move
under a guard where the loop may have no trips, so that nothing runs, raises or is read that did not before; checks and
reads move only from the front of the body, before anything else that can be observed.
"""

from __future__ import annotations

import math

from pullback.analysis.effects import Memory, is_pure
from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.passes.simplify import SPECULATIVE
from pullback.prims import get
from pullback.prims.base import Emitter
from pullback.types import BOOL, I64, Scalar

__all__ = ["run"]

# Not worth a branch of their own: the code generator moves them as well.
_CHEAP = SPECULATIVE | {"mul", "zmul", "fma", "powi", "copysign", "box_tag"}
# Right only behind the checks before them.
_GUARDED_READS = frozenset({"array_get", "buffer_get", "unbox", "view_index", "table_get"})


def run(function: Function, program: Program) -> None:
    """Move invariant ops out of every loop, inner loops first."""
    body = function.body
    _Motion(Memory(function, program)).block(body, 0)


class _Motion:
    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.level: dict[Value, int] = {}  # how many loops are around a definition; 0 is left out
        self.constants: dict[Value, object] = {}

    def block(self, block: Block, level: int) -> None:
        levels = self.level
        if level:
            levels.update(dict.fromkeys(block.params, level))
        ops: list[Op] = []
        for op in block.ops:
            if op.blocks and op.name != "elementwise":
                inside = level if op.name == "if" else level + 1
                for inner in op.blocks:
                    self.block(inner, inside)
                if op.name != "if":
                    ops += self.moved(op, level)
            elif op.name == "const":
                self.constants[op.results[0]] = op.attrs["value"]
            ops.append(op)
            if level:
                levels.update(dict.fromkeys(op.results, level))
        block.ops = ops

    def moved(self, loop: Op, level: int) -> list[Op]:
        """The ops that go before the loop."""
        if loop.name == "while":
            sure = self.take(loop, loop.blocks[0], level, sure=True)
            return sure + self.take(loop, loop.blocks[1], level, sure=False)
        trips = self.constants.get(loop.operands[0])
        if isinstance(trips, int) and trips > 0:
            return self.take(loop, loop.blocks[0], level, sure=True)
        free = self.take(loop, loop.blocks[0], level, sure=False)
        return free + self.guarded(loop, level)

    def take(self, loop: Op, block: Block, level: int, *, sure: bool) -> list[Op]:
        """Remove invariant ops from the block: those that may run anywhere, or (sure) all that surely run."""
        moved: list[Op] = []
        kept: list[Op] = []
        front = sure
        for op in block.ops:
            if self.invariant(op, level) and (self.free(op) or (sure and self.movable(op, loop, front))):
                self.lift(op, level)
                moved.append(op)
                continue
            kept.append(op)
            front = front and _unobservable(op)
        block.ops = kept
        return moved

    def invariant(self, op: Op, level: int) -> bool:
        levels = self.level
        return not op.blocks and all(levels.get(v, 0) <= level for v in op.operands)

    def lift(self, op: Op, level: int) -> None:
        self.level.update(dict.fromkeys(op.results, level))
        if op.name == "const":
            self.constants[op.results[0]] = op.attrs["value"]

    def free(self, op: Op) -> bool:
        """May the op run where it need not: cheap, and no derivative of it can disturb."""
        if op.name == "mul":
            factor = self.constants.get(op.operands[1])
            whole = op.results[0].type == I64
            return whole or (isinstance(factor, int | float) and math.isfinite(factor))
        return op.name in SPECULATIVE

    def movable(self, op: Op, loop: Op, front: bool) -> bool:
        """May the op run once in front of the first trip; `front`: nothing observable stays before it."""
        if op.name in ("check", "unbox", "view_index"):
            return front
        if op.name == "table_get":
            return front and not self.memory.rewritten(op)
        if op.name in _GUARDED_READS:
            known = op.name == "array_get" or self.memory.stable(op.operands[0])
            return front and known and not self.fills(op, loop)
        return not op.prim.effects and bool(op.results)

    def fills(self, op: Op, loop: Op) -> bool:
        """Does the loop write memory of the array or buffer that the op reads."""
        writers = self.memory.writes.get(self.memory.root(op.operands[0]), ())
        if not writers:
            return False
        inside = {id(inner) for block in loop.blocks for inner in block.walk()}
        return any(id(writer) in inside for writer in writers)

    def guarded(self, loop: Op, level: int) -> list[Op]:
        """Move dear ops, checks and reads of a counted loop under `if n > 0`."""
        body = loop.blocks[0]
        chosen: list[Op] = []
        kept: list[Op] = []
        front = True
        for op in body.ops:
            scalars = all(isinstance(v.type, Scalar) for v in op.results)
            if scalars and self.invariant(op, level) and self.movable(op, loop, front):
                chosen.append(op)
                self.lift(op, level)
                continue
            kept.append(op)
            front = front and _unobservable(op)
        if all(op.name in _CHEAP for op in chosen):
            for op in chosen:
                self.level.update(dict.fromkeys(op.results, level + 1))
            return []
        body.ops = kept
        return self.guard(loop, chosen)

    def guard(self, loop: Op, chosen: list[Op]) -> list[Op]:
        """`if n > 0 {ops} else {zeros}`; its results are the values that the ops defined in the loop."""
        outside, then, otherwise = (Emitter(Block(), loop.span) for _ in range(3))
        condition = outside("gt", loop.operands[0], outside.integer(0))
        results = [value for op in chosen for value in op.results]
        inner = {value: Value(value.type, value.name) for value in results}
        for op in chosen:
            op.operands = [inner.get(v, v) for v in op.operands]
            op.results = [inner[v] for v in op.results]
        then.block.ops = chosen
        then.block.results = [inner[v] for v in results]
        for value in results:
            assert isinstance(value.type, Scalar)
            otherwise.block.results.append(otherwise.constant(value.type == BOOL and False, value.type))
        branch = Op(get("if"), [condition], results, {}, [then.block, otherwise.block], loop.span)
        return [*outside.block.ops, branch]


def _unobservable(op: Op) -> bool:
    """Can nobody tell whether a later check failed before or after this op."""
    if op.blocks:
        return op.name != "while" and all(_unobservable(inner) for block in op.blocks for inner in block.ops)
    return is_pure(op) or op.prim.effects <= {"read", "allocate"}
