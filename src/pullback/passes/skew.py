"""Rows of cells that need their neighbours run some at a time, each a column behind the one above.

    for n:                                 for n / 8:
      body (i): head(i)                      body (b):
        for m:                                 for 8 rows r: head; for 7 - r: cell            the first cells of each
          body (j): cell(i, j)       ->        for m - 7:
        tail(i)                                  body (c): cell(8 b, c + 7); cell(8 b + 1, c + 6); ... cell(8 b + 7, c)
                                               for 8 rows r: for the rest: cell; tail
                                             for the rows left: as it was

A cell waits for the one before it; those of other rows need not.  Every cell computes what it did, and `wavefront` has
found that it meets the same numbers.  Where cells have checks, those of all rows are tested before any of them changes
memory; if one fails, the rows are finished one after the other from there, and raise where they would have.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from itertools import islice

from pullback.analysis.independence import Facts
from pullback.analysis.wavefront import Wave, may_run_together, nested
from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.ir.walk import clone_ops, replace_ops
from pullback.passes.jam import AS_IT_IS
from pullback.prims.base import Elementary, Emitter, Prim, get
from pullback.types import BOOL, I64, DType, Scalar

__all__ = ["run"]

SELDOM = "seldom"  # attribute of loops with few of the trips, whose code is to be small
_MANY, _FEW = 6, 4  # rows at a time; fewer where cells are much code, which is written for each
_SMALL = 24  # instructions of a cell, about
_WORTH = 3  # times as many columns there must be
_NESTS = 8  # of a function
_FUNCTION = 20  # instructions of an elementary function, about

Step = Callable[[Emitter, Value, Sequence[Value]], list[Value]]


def run(function: Function, program: Program) -> None:
    """Run rows side by side in the nests of the function that allow it."""
    found = [wave for op in function.body.walk() if (wave := nested(op)) is not None]
    if not found:
        return
    facts = Facts(function, program)
    good = (wave for wave in found if may_run_together(wave, facts, _rows(wave)))
    chosen = {wave.outer: _Skew(wave, _rows(wave)) for wave in islice(good, _NESTS)}
    replace_ops(function.body, lambda op: chosen[op].ops() if op in chosen else [op])


def _rows(wave: Wave) -> int:
    cost = sum(_FUNCTION if _is_elementary(op) else 1 for op in wave.cell.ops)
    return _MANY if cost <= _SMALL else _FEW


def _is_elementary(op: Op) -> bool:
    return isinstance(op.prim, Prim) and any(isinstance(form, Elementary) for form in (op.prim.lower or {}).values())


class _Skew:
    """One nest while it is changed; `lanes` hold a number of each row."""

    def __init__(self, wave: Wave, rows: int) -> None:
        self.wave, self.rows = wave, rows
        self.row, self.column = wave.outer.blocks[0].params[0], wave.cell.params[0]
        self.columns = wave.inner.operands[0]
        self.lanes: dict[Value, Value] = {}
        self.sums: list[Value] = []
        self.reached: Value | None = None

    def ops(self) -> list[Op]:
        """What stands in the place of the nest."""
        outer = self.wave.outer
        e = Emitter(Block(), outer.span)
        wide = e("and_", e("ge", outer.operands[0], e.integer(self.rows)),
                 e("ge", self.columns, e.integer(_WORTH * self.rows)))  # fmt: skip
        blocks = e("select", wide, e("floordiv", outer.operands[0], e.integer(self.rows)), e.integer(0))
        self.make_lanes(e)
        count = e.integer(self.rows)
        carried = _loop(e, blocks, outer.operands[1:],
                        lambda body, b, given: self.block(body, body("mul", b, count), given))
        done = e("mul", blocks, count)
        rest = Value(I64, self.row.name)
        outer.operands = [e("sub", outer.operands[0], done), *carried]
        plain = outer.blocks[0]
        plain.params[0] = rest
        plain.ops.insert(0, Op(get("add"), [done, rest], [self.row]))
        return [*e.block.ops, outer]

    def make_lanes(self, e: Emitter) -> None:
        count = e.integer(self.rows)
        for value in self.wave.row_values:
            self.lanes[value] = e("array_empty", count, dtype=_dtype(value))
        self.sums = [e("array_empty", count, dtype=_dtype(v)) for v in self.wave.inner.operands[1:]]
        if self.wave.conditions:
            self.reached = e("array_empty", count, dtype=DType.I64)

    def block(self, e: Emitter, first: Value, given: Sequence[Value]) -> list[Value]:
        """Rows from `first` on; what they carry on."""
        good = self.begin(e, first)
        maps = [self.known(e, e("add", first, e.integer(r)), e.integer(r)) for r in range(self.rows)]
        carried = [e("array_get", lane, e.integer(r)) for lane in self.sums for r in range(self.rows)]
        steps = e("sub", self.columns, e.integer(self.rows - 1))
        if self.reached is None:
            results = _loop(e, steps, carried, lambda inner, c, given: self.together(inner, maps, c, given))
        else:
            stop, *results = self.guarded(e, e("select", good, steps, e.integer(0)), maps, carried)
            self.note(e, good, stop)
        for number, lane in enumerate(self.sums):
            for r in range(self.rows):
                e.op("array_swap", lane, e.integer(r), results[number * self.rows + r])
        return self.finish(e, first, given)

    def known(self, e: Emitter, row: Value, lane: Value) -> dict[Value, Value]:
        """What the cells and the tail of a row use of its head."""
        mapping = {self.row: row}
        e.block.ops += clone_ops(self.wave.cheap, mapping)
        mapping.update((value, e("array_get", array, lane)) for value, array in self.lanes.items())
        return mapping

    # ------------------------------------------------------------------------------------------------ the first cells

    def begin(self, e: Emitter, first: Value) -> Value:
        """The heads, and the cells that later rows need; whether no check has failed."""

        def step(inner: Emitter, r: Value, given: Sequence[Value]) -> list[Value]:
            mapping = {self.row: inner("add", first, r)}
            inner.block.ops += clone_ops(self.wave.head, mapping)
            for value, lane in self.lanes.items():
                inner.op("array_swap", lane, r, mapping[value])
            inits = [mapping.get(v, v) for v in self.wave.inner.operands[1:]]
            count = inner("sub", inner.integer(self.rows - 1), r)
            if self.reached is None:
                sums, good = _loop(inner, count, inits, lambda x, j, c: self.one(x, mapping, j, c)), []
            else:
                count = inner("select", given[0], count, inner.integer(0))
                stop, *sums = self.guarded(inner, count, [mapping], inits)
                inner.op("array_swap", self.reached, r, stop)
                good = [inner("and_", given[0], inner("eq", stop, count))]
            for lane, value in zip(self.sums, sums, strict=True):
                inner.op("array_swap", lane, r, value)
            return good

        start = [e.boolean(True)] if self.reached is not None else []
        found = _loop(e, e.integer(self.rows), start, step, SELDOM)
        return found[0] if found else e.boolean(True)

    def one(self, e: Emitter, known: Mapping[Value, Value], column: Value, carried: Sequence[Value]) -> list[Value]:
        """A cell as it was written; what it carries on."""
        mapping = {**known, self.column: column, **dict(zip(self.wave.cell.params[1:], carried, strict=True))}
        e.block.ops += clone_ops(self.wave.cell.ops, mapping)
        return [mapping.get(v, v) for v in self.wave.cell.results]

    # ------------------------------------------------------------------------------------------------- rows together

    def lane_mappings(
        self, e: Emitter, maps: Sequence[Mapping[Value, Value]], step: Value, carried: Sequence[Value]
    ) -> list[dict[Value, Value]]:
        """What the cells of one step begin with."""
        count, found = len(maps), []
        for r, known in enumerate(maps):
            column = e("add", step, e.integer(count - 1 - r)) if r + 1 < count else step
            mine = {p: carried[i * count + r] for i, p in enumerate(self.wave.cell.params[1:])}
            found.append({**known, self.column: column, **mine})
        return found

    def together(
        self, e: Emitter, maps: Sequence[Mapping[Value, Value]], step: Value, carried: Sequence[Value]
    ) -> list[Value]:
        """One cell of each row."""
        mappings = self.lane_mappings(e, maps, step, carried)
        for mapping in mappings:
            e.block.ops += clone_ops(self.wave.cell.ops, mapping)
        return [mapping.get(v, v) for v in self.wave.cell.results for mapping in mappings]

    def guarded(
        self, e: Emitter, steps: Value, maps: Sequence[Mapping[Value, Value]], carried: Sequence[Value]
    ) -> list[Value]:
        """Steps until one has a check that fails: how many are done, and what they carry on."""
        starts = [e.integer(0), e.boolean(True), *carried]
        test = Emitter(Block([Value(v.type) for v in starts]), e.span)
        test.block.results = [test("and_", test("lt", test.block.params[0], steps), test.block.params[1])]
        body = Emitter(Block([Value(v.type) for v in starts]), e.span)
        at, _, *given = body.block.params
        mappings = self.lane_mappings(body, maps, at, given)
        late = {*self.wave.effects, *(op for op in self.wave.cell.ops if op.name == "check")}
        early = [op for op in self.wave.cell.ops if op not in late]
        for mapping in mappings:
            body.block.ops += clone_ops(early, mapping)
        conditions = [m.get(v, v) for v in self.wave.conditions for m in mappings]
        good = reduce(lambda x, y: body("and_", x, y), conditions)
        then = Emitter(Block(), e.span)
        for mapping in mappings:
            then.block.ops += clone_ops(self.wave.effects, mapping)
        following = [m.get(v, v) for v in self.wave.cell.results for m in mappings]
        then.block.results = [then("add", at, then.integer(1)), *following]
        kept = body.append(get("if"), [good], blocks=[then.block, Block((), (), [at, *given])],
                           types=[I64, *_types(given)])  # fmt: skip
        body.block.results = [kept.results[0], good, *kept.results[1:]]
        loop = e.append(get("while"), starts, blocks=[test.block, body.block], types=[I64, BOOL, *_types(carried)])
        return [loop.results[0], *loop.results[2:]]

    # -------------------------------------------------------------------------------------------------- the last cells

    def note(self, e: Emitter, good: Value, stop: Value) -> None:
        """How many cells of each row are done, if it was no first one that failed."""
        assert self.reached is not None
        for r in range(self.rows):
            before = e("array_get", self.reached, e.integer(r))
            now = e("add", stop, e.integer(self.rows - 1 - r))
            e.op("array_swap", self.reached, e.integer(r), e("select", good, now, before))

    def finish(self, e: Emitter, first: Value, carried: Sequence[Value]) -> list[Value]:
        """The cells that are left of each row, and its tail; what rows carry on."""
        body = self.wave.outer.blocks[0]

        def step(inner: Emitter, r: Value, now: Sequence[Value]) -> list[Value]:
            mapping = self.known(inner, inner("add", first, r), r)
            mapping.update(zip(body.params[1:], now, strict=True))
            if self.reached is None:
                start = inner("sub", self.columns, r)
            else:
                start = inner("array_get", self.reached, r)
            given = [inner("array_get", lane, r) for lane in self.sums]
            results = _loop(inner, inner("sub", self.columns, start), given,
                            lambda x, j, c: self.one(x, mapping, x("add", start, j), c))  # fmt: skip
            mapping.update(zip(self.wave.inner.results, results, strict=True))
            inner.block.ops += clone_ops(self.wave.tail, mapping)
            return [mapping.get(v, v) for v in body.results]

        return _loop(e, e.integer(self.rows), carried, step, SELDOM)


def _loop(e: Emitter, count: Value, carried: Sequence[Value], step: Step, mark: str = AS_IT_IS) -> list[Value]:
    """A loop whose body `step` writes."""
    inner = Emitter(Block([Value(I64), *(Value(v.type) for v in carried)]), e.span)
    index, *given = inner.block.params
    inner.block.results = step(inner, index, given)
    made = e.append(get("for"), [count, *carried], attrs={mark: True}, blocks=[inner.block], types=_types(carried))
    return made.results


def _types(values: Sequence[Value]) -> list[Scalar]:
    return [v.type for v in values if isinstance(v.type, Scalar)]


def _dtype(value: Value) -> DType:
    assert isinstance(value.type, Scalar)
    return value.type.dtype
