"""Sums with arrays that are zero but for a few elements: these are added to the sum instead.

    v = array_zeros n                                s = elementwise{new} n, a, b {add}
    array_inc v, i, x                      ->        array_inc s, i, x
    s = elementwise{new} n, a, v, b {add; add}

Each reading of an element yields such an array as its sensitivity.
"""

from __future__ import annotations

from collections.abc import Sequence

from pullback.analysis.effects import VIEWS, elementwise_inputs, elementwise_targets
from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.ir.walk import free_values, substitute
from pullback.passes.fuse import Fuser
from pullback.prims.base import get

__all__ = ["run"]


def run(function: Function, program: Program) -> None:
    """Rewrite the sums of every block."""
    if any(op.name == "array_zeros" for op in function.body.walk()):
        _Gathers(function, program).block(function.body)


class _Gathers(Fuser):
    def block(self, block: Block) -> None:
        for op in list(block.ops):
            if op.name != "elementwise":
                for inner in op.blocks:
                    self.block(inner)
        for op in list(block.ops):
            if op in block.ops and _is_sum(op):
                self.gather(block, op)

    def gather(self, block: Block, op: Op) -> None:
        inputs = elementwise_inputs(op)
        found = {v: parts for v in inputs if (parts := self.additions(block, op, v)) is not None}
        rest = [v for v in inputs if v not in found]
        if not found:
            return
        place = block.ops.index(op)
        if rest:
            base, tail = op.result, list(found.values())
            _sum_of(op, rest)
            place += 1
        else:  # the first of them becomes the sum
            base = next(iter(found))
            tail = [parts for v, parts in found.items() if v is not base]
            block.ops.remove(op)
            substitute(block, {op.result: base})
        moved = [added for parts in tail for added in parts]
        gone = {self.maker[v] for v in found if v is not base}
        place -= sum(block.ops.index(other) < place for other in (*moved, *gone))
        block.ops = [other for other in block.ops if other not in gone and other not in moved]
        renamed = {v: base for v in found if v is not base}
        for added in moved:
            added.operands = [renamed.get(v, v) for v in added.operands]
        block.ops[place:place] = moved

    def additions(self, block: Block, op: Op, value: Value) -> list[Op] | None:
        """What adds to a zeroed array before its only reader, if all that can be done later."""
        made = self.maker.get(value)
        if made is None or made.name != "array_zeros" or made.operands != _sizes(op) or made not in block.ops:
            return None
        if value in block.results or value.type != op.result.type:
            return None
        end = block.ops.index(op)
        start = block.ops.index(made)
        names, parts = {value}, []
        for place, other in enumerate(block.ops):
            uses = {*other.operands, *(v for inner in other.blocks for v in free_values(inner))}
            if other is op or not names & uses:
                continue
            if not start < place < end or not _adds(other, names):
                return None
            if other.name in VIEWS:
                names.update(other.results)
            parts.append(other)
        if names & set(block.results) or (len(names) > 1 and names & set(op.operands) != {value}):
            return None
        between = [other for other in block.ops[start:end] if other not in parts]
        late = all(self.may_move(part, between) for part in parts if part.name == "elementwise")
        return parts if late else None


def _adds(op: Op, names: set[Value]) -> bool:
    """Does the op only add to one of these arrays, or view it."""
    if op.name == "array_inc":
        return op.operands[0] in names and not names & set(op.operands[1:])
    if op.name == "elementwise":
        targets = elementwise_targets(op)
        own = not names & {v for inner in op.blocks for v in free_values(inner)}
        return (
            op.attrs["outputs"] == ("inc",) and own and targets[0] in names and not names & set(elementwise_inputs(op))
        )
    return op.name in VIEWS and op.operands[0] in names


def _sizes(op: Op) -> list[Value]:
    return op.operands[: int(str(op.attrs["rank"]))]


def _is_sum(op: Op) -> bool:
    """A fresh array whose elements are the sum of those of the inputs, each once."""
    if op.name != "elementwise" or op.attrs["outputs"] != ("new",):
        return False
    (body,) = op.blocks
    used = [v for inner in body.ops for v in inner.operands]
    results = [v for inner in body.ops for v in inner.results]
    once = len(used) == len(set(used)) and set(used) == {*body.params, *results[:-1]}
    return bool(body.ops) and once and body.results == results[-1:] and all(inner.name == "add" for inner in body.ops)


def _sum_of(op: Op, inputs: Sequence[Value]) -> None:
    """Let the op be the sum of these inputs alone."""
    (body,) = op.blocks
    kept = [param for param, v in zip(body.params, elementwise_inputs(op), strict=True) if v in inputs]
    body.params, body.ops = kept, []
    total = kept[0]
    for param in kept[1:]:
        made = Op(get("add"), [total, param], [Value(total.type)], span=op.span)
        body.ops.append(made)
        total = made.result
    body.results = [total]
    op.operands = [*_sizes(op), *inputs]
