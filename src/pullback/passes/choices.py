"""What a branch chose is known in later branches of the same condition.

    t, y = if c {yield 0, x} {yield 1, z}            t, y = if c {yield 0, x} {yield 1, z}
    h = eq t, 0                                ->
    r = if h {f y} {g y}                             r = if c {f x} {g z}
    s = select (and_ c, d), t, n                     s = select (and_ c, d), 0, n

So the tags of closures that branches yield go, and what else came through the merge goes with them.  Comparisons in
branches move before the `if`, so that the conditions of inner choices are seen outside; they repeat no effect.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from pullback.analysis.effects import carried
from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.prims.base import get
from pullback.types import BOOL, I64

__all__ = ["run"]

_EARLY = frozenset({"eq", "ne", "lt", "le", "gt", "ge", "and_", "or_", "not_", "const"})


def run(function: Function, program: Program) -> None:
    """Replace what is known in the branches of the function."""
    _Choices().block(function.body, {}, {})


@dataclass(frozen=True, slots=True)
class _Choice:
    """One of two by a condition; None: what is seen only in the branch."""

    condition: Value
    sides: tuple[Value | _Choice | None, Value | _Choice | None]


_Facts = dict[Value, _Choice]


class _Choices:
    def __init__(self) -> None:
        self.made: dict[Value, Op] = {}

    def block(self, block: Block, known: Mapping[Value, Value], facts: _Facts) -> None:
        """`known`: values that others stand for in this block; `facts`: what others were chosen from."""
        mapping, facts = dict(known), dict(facts)
        ops, block.ops = block.ops, []
        for op in ops:
            op.operands = [mapping.get(v, v) for v in op.operands]
            if (condition := self.compared(block, op, facts)) is not None:
                mapping[op.results[0]] = condition
                continue
            if op.name == "select":
                self.narrow(op, facts)
            self.nested(op, mapping, facts)
            if op.name == "if":
                self.hoist(block, op)
            self.note(op, facts)
            block.ops.append(op)
        block.results = [mapping.get(v, v) for v in block.results]

    def nested(self, op: Op, mapping: Mapping[Value, Value], facts: _Facts) -> None:
        for side, inner in enumerate(op.blocks):
            if op.name != "if":
                self.block(inner, mapping, facts)
                continue
            here, left = dict(mapping), dict(facts)
            told = self.told(op.operands[0], side)
            for value, choice in facts.items():
                found = _left(choice, told)
                if isinstance(found, Value):
                    here[value] = found
                elif found is None:
                    del left[value]
                else:
                    left[value] = found
            self.block(inner, here, left)

    def narrow(self, op: Op, facts: _Facts) -> None:
        """What a select chooses is known as it is in a branch."""
        condition, *chosen = op.operands
        for side, value in enumerate(chosen):
            found = _left(facts.get(value), self.told(condition, side))
            if isinstance(found, Value):
                op.operands[1 + side] = found

    def told(self, condition: Value, side: int) -> list[tuple[Value, int]]:
        """What is known on one side (0: true) of a condition: of its parts too, where all of them must be so."""
        op = self.made.get(condition)
        if op is not None and op.name == "not_":
            return [(condition, side), *self.told(op.operands[0], 1 - side)]
        if op is not None and op.name == ("and_" if side == 0 else "or_"):
            return [(condition, side), *(fact for part in op.operands for fact in self.told(part, side))]
        return [(condition, side)]

    def hoist(self, block: Block, op: Op) -> None:
        """Comparisons and constants of the branches come first."""
        for inner in op.blocks:
            inside = {v for other in inner.ops for v in other.results}
            late: list[Op] = []
            for other in inner.ops:
                if _is_early(other) and not inside.intersection(_reads(other)):
                    block.ops.append(other)
                    inside.difference_update(other.results)
                else:
                    late.append(other)
            inner.ops = late

    def note(self, op: Op, facts: _Facts) -> None:
        for value in op.results:
            self.made[value] = op
        if op.name == "select":
            facts[op.results[0]] = _Choice(op.operands[0], (op.operands[1], op.operands[2]))
        elif op.name == "if":
            inside = [{v for inner in block.ops for v in inner.results} for block in op.blocks]
            for result, *values in carried(op):
                first, second = (self.seen(v, own) for v, own in zip(values, inside, strict=True))
                facts[result] = _Choice(op.operands[0], (first, second))

    def seen(self, value: Value, inside: set[Value]) -> Value | _Choice | None:
        """What a branch yields as it is seen outside."""
        if value not in inside:
            return value
        op = self.made.get(value)
        if op is None or op.name not in ("if", "select") or op.operands[0] in inside:
            return None
        if op.name == "select":
            first, second = (self.seen(v, inside) for v in op.operands[1:])
        else:
            place = op.results.index(value)
            own = [{v for inner in block.ops for v in inner.results} | inside for block in op.blocks]
            results = [block.results[place] for block in op.blocks]
            first, second = (self.seen(v, hidden) for v, hidden in zip(results, own, strict=True))
        return _Choice(op.operands[0], (first, second))

    def compared(self, block: Block, op: Op, facts: _Facts) -> Value | None:
        """The condition by which one number rather than another was chosen, of a comparison with one of them."""
        if op.name not in ("eq", "ne") or op.operands[0].type != I64:
            return None
        number, choice = self.constant(op.operands[1]), facts.get(op.operands[0])
        if number is None or choice is None:
            return None
        numbers = [self.constant(side) for side in choice.sides]
        if None in numbers:
            return None
        holds = [(value == number) == (op.name == "eq") for value in numbers]
        if holds[0] == holds[1]:
            made = Op(get("const"), [], [Value(BOOL)], {"value": holds[0], "type": BOOL}, span=op.span)
        elif holds[0]:
            return choice.condition
        else:
            made = Op(get("not_"), [choice.condition], [Value(BOOL)], span=op.span)
        block.ops.append(made)
        self.made[made.result] = made
        return made.result

    def constant(self, value: Value | _Choice | None) -> object:
        op = self.made.get(value) if isinstance(value, Value) else None
        return op.attrs["value"] if op is not None and op.name == "const" else None


def _is_early(op: Op) -> bool:
    """A comparison, or a truth chosen from others."""
    if op.name == "if":
        return all(v.type in (BOOL, I64) for v in op.results) and not any(inner.ops for inner in op.blocks)
    return op.name in _EARLY or (op.name == "select" and op.results[0].type == BOOL)


def _reads(op: Op) -> list[Value]:
    return [*op.operands, *(v for inner in op.blocks for v in inner.results)]


def _left(choice: Value | _Choice | None, told: Sequence[tuple[Value, int]]) -> Value | _Choice | None:
    """What is left of a choice where all these conditions are known."""
    return reduce(lambda left, fact: _taken(left, *fact), told, choice)


def _taken(choice: Value | _Choice | None, condition: Value, side: int) -> Value | _Choice | None:
    """What is left of a choice where the condition is known."""
    if not isinstance(choice, _Choice):
        return choice
    if choice.condition is condition:
        return _taken(choice.sides[side], condition, side)
    first, second = (_taken(inner, condition, side) for inner in choice.sides)
    return _Choice(choice.condition, (first, second))
