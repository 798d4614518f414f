"""Removes checks of integers that surely hold, and decides comparisons that are known.

    n = array_size{0} a                        n = array_size{0} a
    for n:                                     for n:
      body (k):                                  body (k):
        i = wrap_index k, n           ->           v = array_get a, k
        check (ult i, n) IndexError
        v = array_get a, i

What is known comes from `analysis.ranges`.  A carried integer that only grows is first assumed never to fall below its
first value, one that grows by a step in each trip of a `for` to be ahead of the index by no more than at first; if the
walk of the body does not confirm that, the body is walked again without it.  Nothing is changed before a walk is
confirmed.
"""

from __future__ import annotations

from collections.abc import Sequence

from pullback.analysis.effects import carried
from pullback.analysis.ranges import Ranges, is_integer, limits
from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.ir.walk import count_ops
from pullback.prims.base import Emitter
from pullback.types import BOOL

__all__ = ["run"]

_COMPARISONS = frozenset({"eq", "ne", "lt", "le", "gt", "ge"})
_OVERFLOWS = frozenset({"add_overflows", "sub_overflows", "mul_overflows"})
_RETRIES = 2


def run(function: Function, program: Program) -> None:
    """Decide what the ranges of integers decide."""
    walk = _Walk(8 * count_ops(function.body))
    walk.block(function.body)
    if walk.decisions:
        _Apply(function, dict(walk.decisions)).function()


class _Walk:
    """One pass over the program in order; `decisions` are (op, what its result is)."""

    def __init__(self, patience: int) -> None:
        self.ranges = Ranges()
        self.patience = patience  # ops visited; after that no more assumptions, so that nests of loops stay cheap
        self.decisions: list[tuple[Op, bool | Value]] = []
        self.visits = 0

    def block(self, block: Block) -> None:
        for op in block.ops:
            self.op(op)

    def op(self, op: Op) -> None:
        name = op.name
        self.visits += 1
        if name == "if":
            self.conditional(op)
        elif name in ("for", "while"):
            self.loop(op)
        elif name == "check":
            self.ranges.assume(op.operands[0], True)
        elif not op.blocks:
            self.ranges.define(op)
            self.decide(op)

    def decide(self, op: Op) -> None:
        name, operands = op.name, op.operands
        known: bool | Value | None = None
        if name in _COMPARISONS:
            if is_integer(operands[0]):
                known = self.ranges.compare(name, *operands)
        elif name == "ult":
            known = self.ranges.below_size(*operands)
        elif name in _OVERFLOWS:
            known = self.ranges.overflows(name, *operands)
        elif name == "wrap_index" and self.ranges.interval(operands[0])[0] >= 0:
            known = operands[0]
        if known is not None:
            self.decisions.append((op, known))

    def conditional(self, op: Op) -> None:
        ranges = self.ranges
        yields: list[list[tuple[int, int]]] = []
        for block, truth in zip(op.blocks, (True, False), strict=True):
            mark = ranges.mark()
            ranges.assume(op.operands[0], truth)
            self.block(block)
            yields.append([ranges.interval(v) for v in block.results])
            ranges.restore(mark)
        ranges.define(op)
        for result, (a, b), (c, d) in zip(op.results, *yields, strict=True):
            if is_integer(result):
                ranges.bound(result, min(a, c), max(b, d))

    def loop(self, op: Op) -> None:
        """Walk with assumptions on carried integers until a walk confirms them."""
        groups = [group for group in carried(op) if is_integer(group[0])]
        inits = [group[1] for group in groups]
        assumed = [self.guess(op, group) for group in groups]
        paced = [op.name == "for" and _steps(op, group) for group in groups]
        for attempt in range(_RETRIES + 1):
            if attempt == _RETRIES or self.visits > self.patience:
                assumed, paced = [limits(init) for init in inits], [False] * len(inits)
            mark, decided = self.ranges.mark(), len(self.decisions)
            for (_, _, *params, _), (low, high) in zip(groups, assumed, strict=True):
                for param in params:
                    self.ranges.bound(param, low, high)
            starts = [self.ranges.interval(init)[1] if pace else None for init, pace in zip(inits, paced, strict=True)]
            self.trip(op, [(g[-2], start) for g, start in zip(groups, starts, strict=True) if start is not None])
            ends = [self.ranges.interval(group[-1]) for group in groups]
            kept = [
                start is None or self.ranges.at_most(group[-1], op.blocks[-1].params[0], start + 1)
                for group, start in zip(groups, starts, strict=True)
            ]
            self.ranges.restore(mark)
            confirmed = [
                low <= first and last <= high for (low, high), (first, last) in zip(assumed, ends, strict=True)
            ]
            if all(confirmed) and all(kept):
                break
            del self.decisions[decided:]
            paced = [pace and keeps for pace, keeps in zip(paced, kept, strict=True)]
            assumed = [
                range_ if sure else limits(init)
                for range_, sure, init in zip(assumed, confirmed, inits, strict=True)
            ]
        self.ranges.define(op)
        for (result, *_), (low, high) in zip(groups, assumed, strict=True):
            self.ranges.bound(result, low, high)

    def guess(self, op: Op, group: tuple[Value, ...]) -> tuple[int, int]:
        """A range that a carried integer may keep: upwards from its first value, or downwards."""
        _, init, *_, last = group
        low, high = self.ranges.interval(init)
        least, most = limits(init)
        step = next((o for o in op.blocks[-1].ops if last in o.results), None)
        if step is not None and step.name == "add" and self.ranges.interval(step.operands[1])[1] < 0:
            return least, high
        if step is not None and step.name == "sub" and self.ranges.interval(step.operands[1])[0] > 0:
            return least, high
        return low, most

    def trip(self, op: Op, paced: Sequence[tuple[Value, int]]) -> None:
        """One trip of the loop under the current assumptions.  `paced` are at most the index and a number."""
        ranges, body = self.ranges, op.blocks[-1]
        if op.name == "for":
            count, index = op.operands[0], body.params[0]
            self.counted(count, index)
            for param, start in paced:
                ranges.difference(param, index, start)
        else:
            cond = op.blocks[0]
            self.block(cond)
            for one, other in zip(cond.params, body.params, strict=True):
                if is_integer(one):
                    ranges.equal(one, other)
            ranges.assume(cond.results[0], True)
        self.block(body)

    def counted(self, count: Value, index: Value) -> None:
        """0 <= index < count; a count like `n if n > 0 else 0` is n where there is a trip."""
        ranges = self.ranges
        ranges.bound(count, 1, limits(count)[1])
        ranges.bound(index, 0, limits(index)[1])
        ranges.difference(index, count, -1)
        maker = ranges.definitions.get(count)
        if maker is None:
            return
        if maker.name == "select":
            condition, x, y = maker.operands
            if ranges.interval(y)[1] <= 0:
                ranges.assume(condition, True)
                self.again(x)
                ranges.equal(count, x)
        elif maker.name == "maximum":
            x, y = maker.operands
            if ranges.interval(y)[1] <= 0:
                ranges.equal(count, x)
            elif ranges.interval(x)[1] <= 0:
                ranges.equal(count, y)


    def again(self, value: Value) -> None:
        """Learn what defines the value under what is known now."""
        maker = self.ranges.definitions.get(value)
        if maker is not None:
            self.ranges.define(maker)


def _steps(loop: Op, group: tuple[Value, ...]) -> bool:
    """May a carried integer grow by a step in each trip."""
    step = next((o for o in loop.blocks[-1].ops if group[-1] in o.results), None)
    return step is not None and step.name == "add" and group[-2] in step.operands


class _Apply:
    """Carries the decisions out: results become constants or other values, checks that hold go."""

    def __init__(self, function: Function, decisions: dict[Op, bool | Value]) -> None:
        self.top = function.body
        self.decisions = decisions
        self.mapping: dict[Value, Value] = {}
        self.true: Value | None = None
        self.emitter = Emitter(Block(), function.span)

    def function(self) -> None:
        self.block(self.top)
        self.top.ops[:0] = self.emitter.block.ops

    def block(self, block: Block) -> None:
        mapping = self.mapping
        kept: list[Op] = []
        for op in block.ops:
            op.operands = self.resolved(op.operands)
            known = self.decisions.get(op)
            if known is not None:
                mapping[op.results[0]] = mapping.get(known, known) if isinstance(known, Value) else self.constant(known)
                continue
            for inner in op.blocks:
                self.block(inner)
            if op.name != "check" or op.operands[0] is not self.true:
                kept.append(op)
        block.ops = kept
        block.results = self.resolved(block.results)

    def constant(self, truth: bool) -> Value:
        value = self.emitter.constant(truth, BOOL)
        if truth:
            self.true = value
        return value

    def resolved(self, values: Sequence[Value]) -> list[Value]:
        mapping = self.mapping
        return [mapping.get(v, v) for v in values]
