"""Elementwise ops that read what another one makes join it, also where others read that too.

    u, v = elementwise{new, new} n, a {f a; g a}          w = elementwise{new} n, a
    w = elementwise{new} n, u, v {add}             ->       {add (f a) (g a)}

`fuse` moves a producer into its only reader.  Backpropagators of array operations yield several arrays at once, which
meet again in sums: here the two become one pass, at the place of either, and yield what is wanted elsewhere too.
"""

from __future__ import annotations

from collections.abc import Sequence

from pullback.analysis.effects import elementwise_inputs
from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.ir.walk import clone_ops, substitute, uses
from pullback.passes.fuse import Fuser
from pullback.types import Scalar

__all__ = ["run"]


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
            maker = self.source(block, reader, position) if _only_makes(reader) else None
            if maker is None:
                position += 1
                continue
            first = block.ops.index(maker)
            between = block.ops[first + 1 : position]
            self.unite(block, maker, reader)
            block.ops.remove(maker)
            if not self.may_follow(maker, between):
                block.ops.remove(reader)
                block.ops.insert(first, reader)
            position = 0

    def source(self, block: Block, reader: Op, position: int) -> Op | None:
        """A maker of an input, over the same space, that the reader may join."""
        for value in dict.fromkeys(elementwise_inputs(reader)):
            made = self.maker.get(value)
            if made is None or made is reader or not _only_makes(made) or made not in block.ops[:position]:
                continue
            between = block.ops[block.ops.index(made) + 1 : position]
            if any(isinstance(v.type, Scalar) and v in reader.operands for v in made.results):
                continue  # a sum is known only after the last element
            same = made.operands[: _rank(made)] == reader.operands[: _rank(reader)]
            if not same or self.too_big(made, reader):
                continue
            if self.may_follow(made, between) or self.may_precede(reader, made, between):
                return made
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
        by_result = dict(zip(made.results, produced, strict=True))
        inputs, rename = list(elementwise_inputs(made)), {}
        for param, operand in zip(body.params, elementwise_inputs(reader), strict=True):
            if operand in by_result:
                rename[param] = by_result[operand]
            else:
                params.append(param)
                inputs.append(operand)
        kinds = made.attrs["outputs"]
        assert isinstance(kinds, tuple)
        rows = [row for row in zip(kinds, made.results, produced, strict=True) if row[1] in elsewhere]
        own = list(zip(reader.attrs["outputs"], reader.results, body.results, strict=True))  # type: ignore[call-overload]
        substitute(body, rename)
        body.ops[:0] = copies
        body.params = params
        self.rebuild(reader, inputs, [*rows, *((kind, place, rename.get(v, v)) for kind, place, v in own)])
        self.merge_inputs(reader)
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


def _only_makes(op: Op) -> bool:
    """An elementwise op that writes to nothing that was there before."""
    if op.name != "elementwise":
        return False
    outputs = op.attrs["outputs"]
    assert isinstance(outputs, tuple)
    return all(kind in ("new", "sum") for kind in outputs)
