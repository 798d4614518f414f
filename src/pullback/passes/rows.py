"""Joins passes over one space that add to overlapping views of an array: what a stencil's reverse consists of.

    t = elementwise{new, set} n, m, w, w {..., 0.0}        elementwise{inc, inc, set} n, m, w, a, b, w
    elementwise{inc} n, m, t, a                      ->                    {rounds: (0, 1, 1)}
    elementwise{inc} n, m, t, b                            a and b are views of one array

All that is read is apart from all that is written, and additions may be done in any order, so that one pass will do;
only, within a vector each element may be added to but once.  Hence `rounds`: per output the number of the loop along
the last axis, of several one after the other, that writes it.  This belongs after all other work on elementwise ops.
"""

from __future__ import annotations

from pullback.analysis.effects import elementwise_inputs, elementwise_targets, is_reference
from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.ir.walk import clone_ops
from pullback.passes.fuse import Fuser
from pullback.passes.simplify import SPECULATIVE

__all__ = ["run"]

# What may be computed in every round again.
_CHEAP = SPECULATIVE | {"mul", "zmul", "fma"}


def run(function: Function, program: Program) -> None:
    """Join in every block of the function, inner blocks first."""
    if sum(op.name == "elementwise" and "inc" in _kinds(op) for op in function.body.walk()) > 1:
        _Rows(function, program).block(function.body)


class _Rows(Fuser):
    def block(self, block: Block) -> None:
        for op in block.ops:
            if op.name != "elementwise":
                for inner in op.blocks:
                    self.block(inner)
        if sum(op.name == "elementwise" for op in block.ops) < 2:
            return
        self.neighbours(block)
        self.takers(block)
        for op in block.ops:
            if op.name == "elementwise":
                self.number(op)

    def independent(self, a: Op, b: Op) -> bool:
        """No write of one meets a read or write of the other, but for additions where each round is cheap."""
        cheap = all(inner.name in _CHEAP for op in (a, b) for inner in op.blocks[0].ops)
        read = {*elementwise_inputs(a), *elementwise_inputs(b)}
        added = {v for op in (a, b) for kind, v in _written(op) if kind == "inc"} - read if cheap else set[Value]()
        for first, second in ((a, b), (b, a)):
            for target in elementwise_targets(first):
                for value in (*elementwise_inputs(second), *elementwise_targets(second)):
                    both = target in added and value in added
                    if is_reference(value.type) and not both and self.meet(value, target):
                        return False
        return True

    def takers(self, block: Block) -> None:
        """What one op takes out of an array, with only one other op to read it, that one takes itself."""
        position = len(block.ops) - 1
        while position >= 0:
            op = block.ops[position]
            made = self.taker(block, op, position) if op.name == "elementwise" else None
            if made is None:
                position -= 1
                continue
            self.take_in(made, op)
            block.ops.remove(made)
            position -= 1

    def taker(self, block: Block, op: Op, position: int) -> Op | None:
        """An op that makes an input and sets something besides, if it may as well run where the op stands."""
        for value in dict.fromkeys(elementwise_inputs(op)):
            made = self.maker.get(value)
            if made is None or made.name != "elementwise" or sorted(_kinds(made)) != ["new", "set"]:
                continue
            if self.count.get(value, 0) != elementwise_inputs(op).count(value) or made not in block.ops[:position]:
                continue
            between = block.ops[block.ops.index(made) + 1 : position]
            same = made.operands[: int(str(made.attrs["rank"]))] == op.operands[: int(str(op.attrs["rank"]))]
            if same and self.cheap_to_repeat(made, op) and all(self.may_pass(made, other) for other in between):
                if not self.too_big(made, op) and self.independent(made, op):
                    return made
        return None

    def cheap_to_repeat(self, made: Op, op: Op) -> bool:
        """Every output of the op may compute anew what the other one makes."""
        return len(_kinds(op)) == 1 or all(inner.name in _CHEAP for inner in made.blocks[0].ops)

    def take_in(self, made: Op, op: Op) -> None:
        """Put the block of an op with the outputs new and set in front of its reader's."""
        (source,) = made.blocks
        mapping: dict[Value, Value] = {}
        params = [Value(p.type, p.name) for p in source.params]
        mapping.update(zip(source.params, params, strict=True))
        copies = clone_ops(source.ops, mapping)
        yielded = dict(zip(_kinds(made), (mapping.get(v, v) for v in source.results), strict=True))
        self.splice(op, {made.result: yielded["new"]}, params, elementwise_inputs(made), copies)
        rows = list(zip(_kinds(op), self.places(op), op.blocks[0].results, strict=True))
        (target,) = elementwise_targets(made)
        self.rebuild(op, elementwise_inputs(op), [*rows, ("set", target, yielded["set"])])
        self.merge_inputs(op)

    def number(self, op: Op) -> None:
        """Say in which round each output is written, if one is not enough."""
        kinds, places = _kinds(op), self.places(op)
        if not self.may_take_turns(op):
            return
        rounds = [0] * len(kinds)
        for i, place in enumerate(places):
            if kinds[i] == "inc":
                taken = {
                    rounds[j] for j in range(i)
                    if kinds[j] == "inc" and places[j] is not place and self.meet(places[j], place)
                }  # fmt: skip
                rounds[i] = next(n for n in range(len(kinds)) if n not in taken)
        last = max(rounds)
        if last:
            turns = [last if kind == "set" else _turn(n, last) for kind, n in zip(kinds, rounds, strict=True)]
            op.attrs["rounds"] = tuple(turns)

    def may_take_turns(self, op: Op) -> bool:
        """Every round reads the inputs as they were, so what is added to is no input; what is set comes last."""
        written, inputs = _written(op), elementwise_inputs(op)
        if any(kind == "inc" and target in inputs for kind, target in written):
            return False
        cleared = [i for i, (kind, _) in enumerate(written) if kind == "set"]
        return not any(i != j and self.meet(written[i][1], v) for i in cleared for j, (_, v) in enumerate(written))


def _turn(number: int, last: int) -> int:
    """The later half of the rounds 0 .. last in turn with the earlier half: 1 3 0 2 4.

    Neighbours mostly add to one row, whose elements would be read while they are still on their way to the cache.
    """
    if last == 1:
        return number
    half = (last + 1) // 2
    return 2 * number + 1 if number < half else 2 * (number - half)


def _kinds(op: Op) -> tuple[str, ...]:
    outputs = op.attrs["outputs"]
    assert isinstance(outputs, tuple)
    return outputs


def _written(op: Op) -> list[tuple[str, Value]]:
    """The kinds of the outputs that go to targets, with these."""
    return list(zip((k for k in _kinds(op) if k in ("inc", "set")), elementwise_targets(op), strict=True))
