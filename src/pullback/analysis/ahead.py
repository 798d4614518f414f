"""What the trips of a loop compute without knowing each other, and what goes on from trip to trip.

    for n, s:                                 ahead, for many trips at once      then, trip by trip
      body (k, a):
        x = array_get p, k                    x = array_get p, k
        d = sqrt x                            d = sqrt x
        check (ge x, zero)                    ge x, zero                         (with one test for all)
        b = add a, d                                                             b = add a, d
        yield b                                                                  yield b

Nothing ahead has an effect, so that it may be thrown away.  What is cheap is computed again where it is wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from pullback.analysis.numeric import is_numeric
from pullback.analysis.regular import steps_of
from pullback.ir.node import Block, Op, Value
from pullback.ir.walk import defined, free_values
from pullback.types import BOOL, I64, ArrayRef, DType, Scalar

__all__ = ["Ahead", "Terms", "look_ahead"]

# Work ahead, of a trip, from which vectors pay; work behind a number from which it is stored for the other half.
_WORTH, _KEPT = 5, 5
_MOST = 120  # ops of a body
_INTEGER = frozenset({"const", "add", "sub", "mul", "minimum", "maximum", "select"})
_READS = frozenset({"array_get", "buffer_get"})
_WRITES = frozenset({"array_swap", "array_inc"})


@dataclass(frozen=True, slots=True)
class Terms:
    """What depends on the code that is generated.

    cost: the work of an op.  is_vector: can many trips do it at once.  apart: do two arrays never share memory.
    """

    cost: Callable[[Op], int]
    is_vector: Callable[[Op], bool]
    apart: Callable[[Value, Value], bool]


@dataclass(frozen=True, slots=True)
class Ahead:
    """`ops` are pure; `conditions` must hold; the ops of `then` have `kept` from the ops ahead."""

    ops: list[Op]
    conditions: list[Value]
    kept: list[Value]
    then: list[Op]


def look_ahead(body: Block, terms: Terms) -> Ahead | None:
    """The two halves of the body of a `for`; None where that is not possible or does not pay."""
    if len(body.params) < 2 or len(body.ops) > _MOST or sum(map(terms.cost, body.ops)) < _WORTH:
        return None
    split = _Split(body, terms)
    split.divide()
    if not split.is_harmless():
        return None
    found = split.halves()
    return found if found.kept and sum(map(terms.cost, found.ops)) >= _WORTH else None


class _Split:
    def __init__(self, body: Block, terms: Terms) -> None:
        self.body, self.terms = body, terms
        self.inside = defined(body, nested=True)
        self.steps = steps_of(body)
        self.makers = {value: op for op in body.walk() for value in op.results}
        self.early = set[Op]()
        self.later: list[Op] = []
        self.checks: list[Op] = []

    def divide(self) -> None:
        """Sort the ops by what they depend on."""
        late = set(self.body.params[1:])
        for op in self.body.ops:
            if late.isdisjoint(_read(op)):
                if op.name == "check" and is_numeric(op.operands[0], self.makers.get):
                    self.checks.append(op)
                    continue
                if self.is_early(op):
                    self.early.add(op)
                    continue
            self.later.append(op)
            late.update(op.results)

    def is_early(self, op: Op) -> bool:
        """Can it be computed ahead."""
        if op.blocks or len(op.results) != 1 or not self.terms.is_vector(op) or any(map(_is_half, op.operands)):
            return False
        if op.name in _READS:
            *outer, last = op.operands
            return all(v not in self.inside for v in outer) and (last not in self.inside or last in self.steps)
        if op.prim.effects:
            return False
        if op.result.type == I64:
            return op.name in _INTEGER and all(v.type in (I64, BOOL) for v in op.operands)
        return op.result.type == BOOL or (_is_float(op.result) and not _is_half(op.result))

    def is_harmless(self) -> bool:
        """May what is read ahead be read then: no other check guards it, and no effect of the other half changes it."""
        reads = [op for op in self.early if op.name in _READS]
        buffers = any(op.name == "buffer_get" for op in reads)
        for op in _nested(self.later):
            if op.name == "check":
                if not is_numeric(op.operands[0], self.makers.get):
                    return False
            elif op.name in _WRITES:
                target = op.operands[0]
                if target in self.inside or not all(self.terms.apart(target, read.operands[0]) for read in reads):
                    return False
            elif op.name == "if" or op.name in _READS or (op.name == "buffer_put" and not buffers):
                continue
            elif op.blocks or op.prim.effects:
                return False
        return True

    # ------------------------------------------------------------------------------------------------------- halves

    def halves(self) -> Ahead:
        wanted = [v for op in self.later for v in _read(op)] + self.body.results
        again, kept = self.cheap(wanted)
        conditions = [op.operands[0] for op in self.checks]
        needed = self.behind([*kept, *conditions])
        late = {*self.later, *again}
        then = [op for op in self.body.ops if op in late]
        return Ahead([op for op in self.body.ops if op in needed], conditions, list(kept), then)

    def cheap(self, wanted: Iterable[Value]) -> tuple[set[Op], dict[Value, None]]:
        """What is computed again for the wanted values, and which values are kept instead."""
        again, kept, waiting = set[Op](), dict[Value, None](), list(wanted)
        while waiting:
            value = waiting.pop(0)
            op = self.makers.get(value)
            if op not in self.early or op in again or value in kept:
                continue
            if sum(map(self.terms.cost, self.behind([value]))) >= _KEPT:
                kept[value] = None
            else:
                again.add(op)
                waiting += op.operands
        return again, kept

    def behind(self, values: Iterable[Value]) -> set[Op]:
        """All ops that the values are made by."""
        found, waiting = set[Op](), list(values)
        while waiting:
            op = self.makers.get(waiting.pop())
            if op in self.early and op not in found:
                found.add(op)
                waiting += op.operands
        return found


def _is_float(value: Value) -> bool:
    return isinstance(value.type, Scalar) and value.type.dtype.is_float


def _is_half(value: Value) -> bool:
    return isinstance(value.type, Scalar | ArrayRef) and value.type.dtype is DType.F16


def _nested(ops: Iterable[Op]) -> Iterator[Op]:
    for op in ops:
        yield op
        for block in op.blocks:
            yield from block.walk()


def _read(op: Op) -> list[Value]:
    """What an op and the blocks in it read."""
    return [*op.operands, *(v for block in op.blocks for v in free_values(block))]
