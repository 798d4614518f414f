"""Writes an array expression straight to where it is stored, unless a test at run time finds that they share memory.

    t = elementwise{new} n, b, x {mul}                    p = array_overlap a, b
    elementwise{set} n, a, t, a {add}           ->        if p { (both as before) }
                                                          else { elementwise{set} n, a, b, x, a {mul, add} }

`a[i] += x * b[i]` in a loop then makes no array in the trips in which the rows are apart.  Where it is known that they
are, `fuse` has done it; after differentiation only, which would differentiate both arms.
"""

from __future__ import annotations

from collections.abc import Sequence

from pullback.analysis.effects import elementwise_inputs, elementwise_targets, is_reference
from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.ir.walk import clone_ops
from pullback.passes.fuse import Fuser
from pullback.prims.base import Emitter, get

__all__ = ["run"]

_MOST_TESTS = 4


def run(function: Function, program: Program) -> None:
    """Make two versions of the writes that would otherwise need an array of their own."""
    if any(op.name == "elementwise" and elementwise_targets(op) for op in function.body.walk()):
        _Versions(function, program).block(function.body)


class _Versions(Fuser):
    def block(self, block: Block) -> None:
        for op in block.ops:
            if op.name != "elementwise":
                for inner in op.blocks:
                    self.block(inner)
        position = len(block.ops) - 1
        while position >= 0:
            op = block.ops[position]
            if op.name == "elementwise" and _only_writes(op):
                made = self.makers(block, op, position)
                pairs = self.meeting(made, op)
                if 0 < len(pairs) <= _MOST_TESTS:
                    self.split(block, op, made, pairs)
                    position -= len(made)
            position -= 1

    def makers(self, block: Block, op: Op, position: int) -> list[Op]:
        """The makers of inputs that could move into the op if its targets were apart from what they read."""
        found: list[Op] = []
        for value in dict.fromkeys(elementwise_inputs(op)):
            made = self.candidate(block, op, position, value)
            if made is not None and made not in found:
                found.append(made)
        return found

    def meeting(self, made: Sequence[Op], op: Op) -> list[tuple[Value, Value]]:
        """Targets and inputs of the makers that may share memory without being the same view."""
        pairs = [
            (target, value)
            for target in elementwise_targets(op) for maker in made for value in elementwise_inputs(maker)
            if is_reference(value.type) and value is not target and self.meet(value, target)
        ]  # fmt: skip
        return list(dict.fromkeys(pairs))

    def split(self, block: Block, op: Op, made: Sequence[Op], pairs: Sequence[tuple[Value, Value]]) -> None:
        """Put `if` in the place of the op; the makers move into its first arm."""
        block.ops = [other for other in block.ops if other not in made]
        position = block.ops.index(op)
        e = Emitter(Block(), op.span)
        met = e.boolean(False)
        for pair in pairs:
            met = e("or_", met, e("array_overlap", *pair))
        names: dict[Value, Value] = {}
        *makers, fused = clone_ops([*made, op], names)
        for maker in makers:
            self.inline(maker, fused)
        results, op.results = op.results, [Value(v.type, v.name) for v in op.results]
        arms = [Block((), [*made, op], op.results), Block((), [fused], fused.results)]
        choice = Op(get("if"), [met], results, {}, arms, op.span)
        block.ops[position : position + 1] = [*e.block.ops, choice]


def _only_writes(op: Op) -> bool:
    """Does the op write to arrays that exist, and make none."""
    kinds = op.attrs["outputs"]
    assert isinstance(kinds, tuple)
    return "new" not in kinds and bool(elementwise_targets(op))
