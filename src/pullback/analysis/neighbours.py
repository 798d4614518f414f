"""Inner loops that several trips of the loop around them may run together.

    for n:                              Nest(outer, inner, tests=[ok, m], before=[init], conditions=[ok])
      body (j):
        ok = ult j, size
        check ok
        m = minimum j, size             what `inner` needs of its trip
        init = array_get x, j
        s = for m, init:                inner
          body (k, a): ... array_get y, j, k
        array_swap y, i, j, s

The first trips of the inner loop at j + 1 run before what trip j writes.  That changes nothing if they read nothing of
it, by the test of `dependence`: they are at most as many as each of the trips has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pullback.analysis.alias import Aliases
from pullback.analysis.dependence import Pair
from pullback.analysis.independence import Facts
from pullback.analysis.inequalities import difference
from pullback.analysis.regular import steps_of
from pullback.ir.node import Block, Op, Value
from pullback.ir.walk import clone_ops, defined, free_values
from pullback.types import BOOL, I64, DType, Scalar

__all__ = ["Nest", "is_movable", "nest_of"]

_MOST = 6  # ops of the inner loop for each number that it carries
_CHAIN = frozenset({"array_get", "add", "sub", "mul", "neg", "const", "cast"})
_WRITES = frozenset({"array_swap", "array_inc"})
_HARMLESS = frozenset({"check", "array_get", "buffer_put", "if", "for"})
_FLOATS = (Scalar(DType.F32), Scalar(DType.F64))


@dataclass(frozen=True, slots=True)
class Nest:
    """`tests`: the ops of the outer body that the length of the inner loop and the conditions need, in order.

    before: what else the inner loop needs.  conditions: of the checks before the inner loop.
    """

    outer: Op
    inner: Op
    tests: list[Op]
    before: list[Op]
    conditions: list[Value]

    def reads(self) -> list[Op]:
        """What is read too early, as far as it is memory."""
        return [op for op in (*self.before, *self.inner.blocks[0].ops) if op.name == "array_get"]

    def moving(self) -> set[Value]:
        """What the tests compute that depends on the trip."""
        found = {self.outer.blocks[0].params[0]}
        for op in self.tests:
            if not found.isdisjoint(op.operands):
                found.update(op.results)
        return found

    def is_even(self) -> bool:
        """Are all inner loops equally long."""
        return self.inner.operands[0] not in self.moving()

    def bound(self, out: list[Op]) -> Value | None:
        """What no inner loop is longer than, computed by ops that are appended, where that is known."""
        makers, moving = {v: op for op in self.tests for v in op.results}, self.moving()
        waiting = [self.inner.operands[0]]
        while waiting:
            value = waiting.pop()
            if value not in moving:
                mapping = dict[Value, Value]()
                out += clone_ops(_behind(self.tests, [value]), mapping)
                return mapping.get(value, value)
            if value in makers and makers[value].name in ("minimum", "maximum"):
                least = makers[value].name == "minimum"
                waiting += [v for v in makers[value].operands if least or v in moving]
        return None

    def work(self) -> int:
        """How many operations on numbers a trip of the inner loop is, for each that it carries."""
        ops = [op for op in self.inner.blocks[0].ops if op.name != "array_get" and op.result.type in _FLOATS]
        return len(ops) // sum(v.type in _FLOATS for v in self.inner.operands[1:])

    def side_by_side(self) -> bool:
        """Does the inner loop read elements that lie beside those of the next trip of the outer one."""
        steps = steps_of(self.outer.blocks[0]) | steps_of(self.inner.blocks[0], self.outer.blocks[0].params[0])
        return any(op.name == "array_get" and op.operands[-1] in steps for op in self.inner.blocks[0].ops)


def nest_of(outer: Op) -> Nest | None:
    """The loop with the first inner loop of its body, if several trips can begin that together but for memory."""
    if outer.name != "for" or outer.attrs:
        return None
    body = outer.blocks[0]
    at = next((i for i, op in enumerate(body.ops) if op.name == "for"), None)
    if at is None or not _is_chain(body.ops[at].blocks[0]) or body.ops[at].attrs:
        return None
    inner, head = body.ops[at], body.ops[:at]
    if any(op.prim.effects and op.name not in ("check", "array_get") for op in _walk(head)):
        return None
    conditions = [op.operands[0] for op in _walk(head) if op.name == "check"]
    needed = [*inner.operands, *free_values(inner.blocks[0]), *conditions]
    tests, ops = _behind(head, [inner.operands[0], *conditions]), _behind(head, needed)
    if any(op.blocks for op in ops) or any(op.name == "array_get" for op in tests):
        return None
    unknown = {*body.params[1:], *(v for op in head for block in op.blocks for v in defined(block, nested=True))}
    if not unknown.isdisjoint([*needed, *(v for op in ops for v in op.operands)]):
        return None
    return Nest(outer, inner, tests, [op for op in ops if op not in tests], conditions)


def _is_chain(body: Block) -> bool:
    """Is it a short loop of additions that wait for one another."""
    chains = [v for v in body.params[1:] if v.type in _FLOATS]
    if any(v.type not in (*_FLOATS, I64, BOOL) for v in body.params[1:]) or len(body.ops) > _MOST * len(chains):
        return False
    return bool(chains) and all(op.name in _CHAIN for op in body.ops) and any(op.name == "array_get" for op in body.ops)


def _walk(ops: Iterable[Op]) -> Iterator[Op]:
    for op in ops:
        yield op
        for block in op.blocks:
            yield from block.walk()


def _behind(ops: list[Op], values: Iterable[Value]) -> list[Op]:
    """Those of the ops that the values are made by."""
    needed, found = set(values), list[Op]()
    for op in reversed(ops):
        if not needed.isdisjoint(op.results):
            found.append(op)
            needed.update(op.operands)
            needed.update(v for block in op.blocks for v in free_values(block))
    return found[::-1]


def is_movable(nest: Nest, facts: Facts, together: int) -> bool:
    """Does no trip read, in what is moved before it, what one of the few trips before it writes."""
    ops = list(nest.outer.blocks[0].walk())
    if any(op.prim.effects and op.name not in _HARMLESS | _WRITES for op in ops):
        return False
    overlap = facts.overlap
    for write in (op for op in ops if op.name in _WRITES):
        target = overlap.base(write.operands[0])
        for read in nest.reads():
            source = overlap.base(read.operands[0])
            if not overlap.meet(target, source):
                continue
            if target is not source or not _Ahead(facts.aliases, nest, write, read, together).apart():
                return False
    return True


class _Ahead(Pair):
    """A write, and a read of the same array at one of the next trips, among the inner trips that all of these have."""

    def __init__(self, aliases: Aliases, nest: Nest, write: Op, read: Op, together: int) -> None:
        super().__init__(aliases, 0, write, read)
        self.nest, self.together = nest, together
        self.deep = read in nest.inner.blocks[0].ops

    def apart(self) -> bool:
        level = next((i for i, loop in enumerate(self.loops[: self.common]) if loop is self.nest.outer), None)
        return level is not None and self._apart(level, same=False)

    def _more(self) -> None:
        index, inner = self.nest.outer.blocks[0].params[0], self.nest.inner
        self._state(difference(self._linear(index, False), self._linear(index, True), self.together - 1))
        if self.deep:
            trips, at = self._linear(inner.operands[0], False), self._linear(inner.blocks[0].params[0], True)
            self._state(difference(trips, at, -1))
