"""What a loop does with a carried number, if that is a sum, a product, a minimum or the like.

    body (k, s):                          Reduction("add", identity=-0.0)
      t = add s, x
      r = if p {u = add t, y; yield u} {yield t}
      yield r

Each block of trips can begin at the identity and be combined with the others afterwards.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from pullback.ir.node import Block, Op, Value
from pullback.ir.walk import defined
from pullback.types import BOOL, Scalar

__all__ = ["Reduction", "reduction"]

_FLOAT_IDENTITIES = {
    "add": -0.0, "mul": 1.0, "minimum": math.inf, "maximum": -math.inf, "python_min": math.inf,
    "python_max": -math.inf,
}  # fmt: skip
_COMMUTING = frozenset({"add", "mul", "minimum", "maximum", "and_", "or_", "xor_"})
_FIRST = frozenset({"python_min", "python_max"})  # ties go to the first operand, which is the number so far
_OVERFLOWS = frozenset({"add_overflows", "sub_overflows", "mul_overflows"})


@dataclass(frozen=True, slots=True)
class Reduction:
    """The op that joins parts (or "last": the same value on every trip), what it begins with, how it is checked."""

    name: str
    identity: bool | int | float
    check: Op | None = None  # of the overflow of the op, which joins need as well
    attrs: Mapping[str, object] | None = None
    value: Value | None = None  # of "last"


def reduction(body: Block, position: int, makers: Mapping[Value, Op]) -> Reduction | None:
    """What becomes of the carried value of that number; None where trips depend on it in another way.

    makers: the ops that define values, those outside of the body among them.
    """
    param, result = body.params[1 + position], body.results[position]
    type_ = param.type
    if not isinstance(type_, Scalar):
        return None
    if result not in defined(body) and not _readers(body, param) and param not in body.results:
        return Reduction("last", 0, value=result)
    walk = _Walk(makers)
    if walk.to(body, param, result) and walk.name is not None:
        identity = _identity(walk.name, type_)
        if identity is not None:
            return Reduction(walk.name, identity, walk.check, walk.attrs)
    return None


def _identity(name: str, type_: Scalar) -> bool | int | float | None:
    if type_ == BOOL:
        return {"and_": True, "or_": False, "xor_": False}.get(name)
    if type_.dtype.is_float:
        return _FLOAT_IDENTITIES.get(name)
    lowest, highest = type_.dtype.limits
    return {
        "add": 0, "mul": 1, "and_": highest if type_.dtype.is_unsigned else -1, "or_": 0, "xor_": 0,
        "minimum": highest, "python_min": highest, "maximum": lowest, "python_max": lowest,
    }.get(name)  # fmt: skip


class _Walk:
    """Follows a value from its start in a block to a result of it, through one kind of op."""

    def __init__(self, makers: Mapping[Value, Op]) -> None:
        self.makers = makers
        self.name: str | None = None
        self.check: Op | None = None
        self.attrs: Mapping[str, object] | None = None

    def to(self, block: Block, value: Value, goal: Value) -> bool:
        """Is nothing done with the value but to join something to it, until it is the goal."""
        while value is not goal:
            following = self._step(block, value)
            if following is None:
                return False
            value = following
        readers = _readers(block, value)
        return not readers and block.results.count(value) == 1

    def _step(self, block: Block, value: Value) -> Value | None:
        """What the value becomes by its only reader."""
        if value in block.results:
            return None
        readers = [op for op in _readers(block, value) if not self._only_checked(block, op, value)]
        if len(readers) == 2:
            return self._extreme(block, value, *readers)
        if len(readers) != 1:
            return None
        (op,) = readers
        if op.name in ("if", "select") and op.operands[0] is value:
            return self._logical(op, value)
        if op.name in ("if", "for", "while"):
            return self._through(op, value)
        if not self._joins(op, value):
            return None
        return op.result

    def _extreme(self, block: Block, value: Value, test: Op, choice: Op) -> Value | None:
        """`x if x > value else value`, and the like."""
        if choice.name != "select" or test.name not in ("lt", "gt") or choice.operands[0] is not test.result:
            return None
        _, new, old = choice.operands
        if old is not value or new is value or set(test.operands) != {new, value}:
            return None
        if _readers(block, test.result) != [choice]:
            return None
        larger = (test.name == "gt") == (test.operands[0] is new)
        return choice.result if self._named("python_max" if larger else "python_min") else None

    def _logical(self, op: Op, value: Value) -> Value | None:
        """`value and x`, `value or x`, where computing x cannot be told from not doing so."""
        if op.name == "select":
            _, then, other = op.operands
        else:
            if len(op.results) != 1 or any(inner.prim.effects - {"read"} for b in op.blocks for inner in b.walk()):
                return None
            if any(value in inner.operands for b in op.blocks for inner in b.walk()):
                return None
            then, other = (b.results[0] for b in op.blocks)
        if then.type != BOOL:
            return None
        if other is value or self._is(other, False):
            return op.result if then is not value and self._named("and_") else None
        if then is value or self._is(then, True):
            return op.result if other is not value and self._named("or_") else None
        return None

    def _is(self, value: Value, number: bool) -> bool:
        maker = self.makers.get(value)
        return maker is not None and maker.name == "const" and maker.attrs["value"] is number

    def _named(self, name: str) -> bool:
        """Is this the only kind of join."""
        if self.name not in (None, name):
            return False
        self.name = name
        return True

    def _joins(self, op: Op, value: Value) -> bool:
        if op.operands.count(value) != 1:
            return False
        name = op.name
        if name == "sub" and op.operands[0] is value:
            name = "add"
        elif (name in _FIRST and op.operands[0] is not value) or name not in _COMMUTING | _FIRST:
            return False
        if not self._named(name):
            return False
        if op.name == name:
            self.attrs = dict(op.attrs)
        return True

    def _only_checked(self, block: Block, op: Op, value: Value) -> bool:
        """A test whether the join overflows: the joins of the blocks are tested in the same way."""
        if op.name not in _OVERFLOWS:
            return False
        flags = _readers(block, op.result)
        tests = [test for flag in flags if flag.name == "not_" for test in _readers(block, flag.result)]
        if any(flag.name != "not_" for flag in flags) or any(test.name != "check" for test in tests):
            return False
        self.check = tests[0] if tests else self.check
        return True

    def _through(self, op: Op, value: Value) -> Value | None:
        """Through an `if`, or the loop that carries it on."""
        if op.name == "if":
            if value in op.operands:
                return None
            places = [
                i for i in range(len(op.results)) if any(self._reaches(b, value, b.results[i]) for b in op.blocks)
            ]  # fmt: skip
            if len(places) != 1:
                return None
            (place,) = places
            for block in op.blocks:
                if not self.to(block, value, block.results[place]):
                    return None
            return op.results[place]
        fixed = 1 if op.name == "for" else 0
        if op.operands.count(value) != 1 or op.operands.index(value) < fixed:
            return None
        if any(value in inner.operands for block in op.blocks for inner in block.walk()):
            return None
        place = op.operands.index(value) - fixed
        body = op.blocks[-1]
        if op.name == "while" and _readers(op.blocks[0], op.blocks[0].params[place]):
            return None
        if op.name == "while" and op.blocks[0].params[place] in op.blocks[0].results:
            return None
        if not self.to(body, body.params[fixed + place], body.results[place]):
            return None
        return op.results[place]

    def _reaches(self, block: Block, value: Value, goal: Value) -> bool:
        """Can the goal depend on the value."""
        known = {value}
        for op in block.ops:
            if not known.isdisjoint(op.operands) or any(
                not known.isdisjoint([*inner.operands]) for b in op.blocks for inner in b.walk()
            ) or any(not known.isdisjoint(b.results) for b in op.blocks):
                known.update(op.results)
        return goal in known


def _readers(block: Block, value: Value) -> list[Op]:
    """The ops of the block that read the value, themselves or in their blocks."""
    found = []
    for op in block.ops:
        inside = any(
            value in inner.operands or any(value in b.results for b in inner.blocks)
            for block_ in op.blocks for inner in block_.walk()
        )  # fmt: skip
        if value in op.operands or inside or any(value in b.results for b in op.blocks):
            found.append(op)
    return found
