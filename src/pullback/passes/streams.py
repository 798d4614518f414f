"""Elementwise ops that read what another one makes join it, also where others read that too.

    u, v = elementwise{new, new} n, a {f a; g a}          w = elementwise{new} n, a
    w = elementwise{new} n, u, v {add}             ->       {add (f a) (g a)}

`fuse` moves a producer into its only reader.  Backpropagators of array operations yield several arrays at once, which
meet again in sums: here the two become one pass, at the place of either, and yield what is wanted elsewhere too.
"""

from __future__ import annotations

from collections.abc import Sequence

from pullback.analysis.effects import elementwise_inputs, elementwise_targets
from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.ir.walk import clone_ops, substitute, uses
from pullback.passes.fuse import Fuser
from pullback.types import Scalar

__all__ = ["run"]

_FRESH = frozenset({"array_zeros", "array_empty"})  # nobody can see them yet


def run(function: Function, program: Program) -> None:
    """Join the elementwise ops of every block."""
    if sum(op.name == "elementwise" for op in function.body.walk()) > 1:
        _Streams(function, program).block(function.body)


class _Streams(Fuser):
    def block(self, block: Block) -> None:
        for op in block.ops:
            if op.name != "elementwise":
                for inner in op.blocks:
                    self.block(inner)
        position = 0
        while position < len(block.ops):
            reader = block.ops[position]
            found = self.source(block, reader, position) if _only_adds(reader) else None
            if found is None:
                position += 1
                continue
            maker, follows = found
            first = block.ops.index(maker)
            self.unite(block, maker, reader)
            block.ops.remove(maker)
            if not follows:
                block.ops.remove(reader)
                block.ops.insert(first, reader)
            position = 0

    def source(self, block: Block, reader: Op, position: int) -> tuple[Op, bool] | None:
        """A maker of an input, over the same space, that the reader may join; whether at the place of the reader."""
        for value in dict.fromkeys(elementwise_inputs(reader)):
            made = self.maker.get(value)
            if made is None or made is reader or not _only_adds(made) or made not in block.ops[:position]:
                continue
            between = block.ops[block.ops.index(made) + 1 : position]
            if any(isinstance(v.type, Scalar) and v in reader.operands for v in made.results):
                continue  # a sum is known only after the last element
            if not set(made.results).isdisjoint(elementwise_targets(reader)):
                continue  # what the reader adds to must be there before it
            same = made.operands[: _rank(made)] == reader.operands[: _rank(reader)]
            if not same or self.too_big(made, reader):
                continue
            if not self.independent(made, reader):
                continue
            if self.may_follow(made, between) and (
                not elementwise_targets(made)
                or all(other.name in _FRESH or self.may_pass(made, other) for other in between)
            ):
                return made, True
            if not elementwise_targets(reader) and self.may_precede(reader, made, between):
                return made, False
        return None

    def may_follow(self, made: Op, between: Sequence[Op]) -> bool:
        """Can the maker run after those in between."""
        return self.may_move(made, between) and not any(self.uses_results(other, made) for other in between)

    def may_precede(self, reader: Op, made: Op, between: Sequence[Op]) -> bool:
        """Can the reader run before those in between."""
        defined = {v for other in between for v in other.results}
        return defined.isdisjoint(reader.operands) and self.may_move(reader, between)

    def unite(self, block: Block, made: Op, reader: Op) -> None:
        """Put the maker's block in front of the reader's; what others want of it becomes a result of the reader."""
        (source,), (body,) = made.blocks, reader.blocks
        elsewhere = _uses_outside(block, reader)
        mapping: dict[Value, Value] = {}
        params = [Value(param.type, param.name) for param in source.params]
        mapping.update(zip(source.params, params, strict=True))
        copies = clone_ops(source.ops, mapping)
        produced = [mapping.get(v, v) for v in source.results]
        kinds, places = made.attrs["outputs"], self.places(made)
        assert isinstance(kinds, tuple)
        by_result = {p: v for kind, p, v in zip(kinds, places, produced, strict=True) if kind != "inc"}
        inputs, rename = list(elementwise_inputs(made)), {}
        for param, operand in zip(body.params, elementwise_inputs(reader), strict=True):
            if operand in by_result:
                rename[param] = by_result[operand]
            else:
                params.append(param)
                inputs.append(operand)
        all_rows = zip(kinds, places, produced, strict=True)
        rows = [row for row in all_rows if row[0] == "inc" or row[1] in elsewhere]
        own = list(zip(reader.attrs["outputs"], self.places(reader), body.results, strict=True))  # type: ignore[call-overload]
        substitute(body, rename)
        body.ops[:0] = copies
        body.params = params
        self.rebuild(reader, inputs, [*rows, *((kind, place, rename.get(v, v)) for kind, place, v in own)])
        self.merge_inputs(reader)
        self.merge_sums(reader)
        for value in reader.results:
            self.maker[value] = reader


def _uses_outside(block: Block, reader: Op) -> set[Value]:
    """What the block uses, but for this op."""
    found = set(block.results)
    for op in block.ops:
        if op is not reader:
            found.update(op.operands)
            found.update(v for inner in op.blocks for v in uses(inner))
    return found


def _rank(op: Op) -> int:
    return int(str(op.attrs["rank"]))


def _only_adds(op: Op) -> bool:
    """An elementwise op that makes arrays, and perhaps adds to some that were there before."""
    if op.name != "elementwise":
        return False
    outputs = op.attrs["outputs"]
    assert isinstance(outputs, tuple)
    return all(kind in ("new", "sum", "inc") for kind in outputs)
