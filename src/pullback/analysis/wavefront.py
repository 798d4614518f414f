"""Nests of loops in which every cell needs its neighbours: rows that may run side by side, each a column behind.

    for n:                                   Wave(outer, inner, head=[x], tail=[...])
      body (i):
        x = array_get p, i                   what a row needs before its cells
        for m:
          body (j):                          the cells: (i, j) needs (i, j - 1), so that a row is one long chain;
            a = array_get t, i, j + 1        it also needs (i - 1, j), one column further at most: row i + 1 may
            b = array_get t, i + 1, j        run along with row i
            array_swap t, i + 1, j + 1, f(a, b, x)
        ...                                  what is done when a row is through

Cells that run in another order than before must not meet: where row i' is later than row i, (i, j) still comes before
(i', j') if j - j' <= i' - i, cells of one step being done row by row.  For all others, that an access of the one is to
no element that the other changes is shown by the linear inequalities of `dependence`.  A cell that raises ends the
function, so that nobody sees what cells of later rows have written by then: only to memory that the function has made
and nobody else knows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pullback.analysis.dependence import Pair
from pullback.analysis.effects import ALLOCATIONS, VIEWS
from pullback.analysis.independence import Facts
from pullback.analysis.inequalities import difference
from pullback.analysis.numeric import is_numeric
from pullback.ir.node import Block, Op, Value
from pullback.ir.walk import defined, free_values
from pullback.types import I64, ArrayRef, Scalar

__all__ = ["Wave", "may_run_together", "nested"]

_MOST = 64  # ops of a cell
_READS = frozenset({"array_get", "buffer_get"})
_WRITES = frozenset({"array_swap", "array_inc", "buffer_put"})
_LATE = _READS | _WRITES | {"check", "if"}
_INTEGER = frozenset({"const", "add", "sub", "mul", "neg", "minimum", "maximum", "array_size"})
_KNOWN = _READS | _WRITES | VIEWS | frozenset({
    "array_size", "elementwise", "matmul", "matmul_inc", "array_overlap", "array_same", "array_contiguous",
    "array_fits", "array_inc", "array_swap",
})  # fmt: skip
_LEAVES_ALONE = frozenset({"any_order", "as_it_is", "parallel", "threads", "scheduled"})


@dataclass(frozen=True, slots=True)
class Wave:
    """head, tail: the ops of a row before and after its cells.  cheap: those of the head that are done again as easily.

    row_values: what else the head computes and cells or tail use.  effects: the ops of a cell that change memory, or
    use what such an op gives.  conditions: of the checks of a cell.
    """

    outer: Op
    inner: Op
    head: list[Op]
    tail: list[Op]
    cheap: list[Op]
    row_values: list[Value]
    effects: list[Op]
    conditions: list[Value]

    @property
    def cell(self) -> Block:
        return self.inner.blocks[0]


def nested(outer: Op) -> Wave | None:
    """The nest of a loop, as far as its form is that of a wave."""
    if outer.name != "for" or not _LEAVES_ALONE.isdisjoint(outer.attrs):
        return None
    body = outer.blocks[0]
    loops = [op for op in body.ops if op.name == "for"]
    if len(loops) != 1 or not _LEAVES_ALONE.isdisjoint(loops[0].attrs):
        return None
    (inner,) = loops
    at = body.ops.index(inner)
    head, tail = body.ops[:at], body.ops[at + 1 :]
    inside = defined(body, nested=True)
    if inner.operands[0] in inside or not _is_cell(inner.blocks[0], inside):
        return None
    if not all(op.name in _READS or not op.prim.effects for op in _walk(head)):
        return None
    if not all(op.name in _LATE or not (op.prim.effects or op.blocks) for op in _walk(tail)):
        return None
    cheap = _cheap(head, inside - {body.params[0]})
    again = {v for op in cheap for v in op.results}
    used = dict.fromkeys([*free_values(inner.blocks[0]), *free_values(Block((), tail, body.results))])
    known = {v for op in head for v in op.results}
    row_values = [v for v in used if v in known and v not in again]
    if not all(isinstance(v.type, Scalar) for v in (*row_values, *inner.operands, *outer.operands)):
        return None
    if not set(body.params[1:]).isdisjoint([*free_values(Block((), [*head, inner]))]):
        return None  # a row begins with what the one before it has come to
    checks = [op.operands[0] for op in inner.blocks[0].ops if op.name == "check"]
    return Wave(outer, inner, head, tail, cheap, row_values, _effects(inner.blocks[0]), checks)


def _is_cell(body: Block, inside: set[Value]) -> bool:
    """Straight code that changes elements, with checks that ask numbers alone, before it does."""
    if len(body.ops) > _MOST or not any(op.name in ("array_swap", "array_inc") for op in body.ops):
        return False
    if any(op.blocks or (op.name not in _READS | _WRITES | {"check"} and op.prim.effects) for op in body.ops):
        return False
    if any(op.operands[0] in inside for op in body.ops if op.name in _READS | _WRITES):
        return False  # views of rows are found where they are made
    makers = {value: op for op in body.ops for value in op.results}
    return all(is_numeric(op.operands[0], makers.get) for op in body.ops if op.name == "check")


def _effects(body: Block) -> list[Op]:
    found: list[Op] = []
    late: set[Value] = set()
    for op in body.ops:
        if op.name in _WRITES or not late.isdisjoint(op.operands):
            found.append(op)
            late.update(op.results)
    return found


def _cheap(head: Sequence[Op], inside: set[Value]) -> list[Op]:
    """Integers and views that follow from the number of the row."""
    found: list[Op] = []
    known: set[Value] = set()
    for op in head:
        fine = op.name in VIEWS or (op.name in _INTEGER and op.result.type == I64) or op.name == "const"
        if fine and all(v not in inside or v in known for v in op.operands):
            found.append(op)
            known.update(op.results)
    return found


def _walk(ops: Sequence[Op]) -> Iterator[Op]:
    for op in ops:
        yield op
        for block in op.blocks:
            yield from block.walk()


# ------------------------------------------------------------------------------------------------------- dependences


def may_run_together(wave: Wave, facts: Facts, rows: int) -> bool:
    """May so many rows run side by side, and is each of them a chain that gains by it."""
    return _Order(wave, facts, rows).holds()


class _Order:
    def __init__(self, wave: Wave, facts: Facts, rows: int) -> None:
        self.wave, self.facts, self.rows = wave, facts, rows
        self.cells = _accesses(wave.cell.ops)
        self.before, self.after = _accesses(_walk(wave.head)), _accesses(_walk(wave.tail))

    def holds(self) -> bool:
        raises = self.wave.conditions or any(op.name == "check" for op in _walk(self.wave.tail))
        if (raises and not self.is_private()) or (self.wave.conditions and not self.reads_first()):
            return False
        if any(op.name == "buffer_put" and not self.is_own(op) for op in self.cells):
            return False
        if not all(self.never_met(op) for op in (*self.cells, *self.after) if op.name == "buffer_put"):
            return False
        return self.is_chain() and self.is_ordered()

    def is_chain(self) -> bool:
        """Does a cell perhaps need what one before it in the row has changed."""
        inner = self.wave.inner
        found = (
            (one, other) for one in self.cells for other in self.cells
            if one.name in ("array_swap", "array_inc") and other.name != "buffer_put" and self.same_array(one, other)
            and not (one.name == other.name == "array_inc")
        )  # fmt: skip
        return any(not _Rows(self.facts, inner, None, one, other, self.rows).never() for one, other in found)

    def is_ordered(self) -> bool:
        """Do accesses that run in another order than before, one of which writes, never meet."""
        pairs = [
            *((one, other, True) for one in self.cells for other in self.cells),
            *((one, other, False) for one in self.cells for other in self.before),
            *((one, other, False) for one in self.after for other in (*self.before, *self.cells)),
        ]
        for one, other, cells in pairs:
            if one.name in _READS and other.name in _READS:
                continue
            if "buffer_put" in (one.name, other.name):
                continue  # no buffer is read here: see `never_met`
            if not self.same_array(one, other):
                if self.facts.overlap.meet(one.operands[0], other.operands[0]):
                    return False
                continue
            inner = self.wave.inner if cells else None
            early = bool(self.wave.conditions) and other.name in _READS  # before all that cells of the step write
            if not _Rows(self.facts, self.wave.outer, inner, one, other, self.rows, early).never():
                return False
        return True

    def same_array(self, one: Op, other: Op) -> bool:
        overlap = self.facts.overlap
        base = overlap.base(one.operands[0])
        return base is overlap.base(other.operands[0]) and isinstance(base.type, ArrayRef)

    def is_own(self, put: Op) -> bool:
        """Has every cell a place of its own in the buffer: row * columns + column."""
        maker, columns = self.facts.overlap.maker.get, self.wave.inner.operands[0]
        found = maker(put.operands[1])
        if found is None or found.name != "add" or self.wave.cell.params[0] not in found.operands:
            return False
        (start,) = [v for v in found.operands if v is not self.wave.cell.params[0]] or [found.result]
        product = maker(start)
        if product is None or product.name != "mul" or columns not in product.operands:
            return False
        row = next((v for v in product.operands if v is not columns), columns)
        return row is self.wave.outer.blocks[0].params[0] or self.moves(row)

    def moves(self, row: Value) -> bool:
        """Is it the number of the row and something fixed."""
        op = self.facts.overlap.maker.get(row)
        index, inside = self.wave.outer.blocks[0].params[0], defined(self.wave.outer.blocks[0], nested=True)
        if op is None or op.name not in ("add", "sub") or index not in op.operands:
            return False
        return sum(v is index for v in op.operands) == 1 and all(v is index or v not in inside for v in op.operands)

    def never_met(self, put: Op) -> bool:
        """Is the buffer filled once here, and not read."""
        uses = [op for op in (*self.cells, *self.before, *self.after) if op.operands[0] is put.operands[0]]
        others = (op for op in (*self.cells, *self.before, *self.after) if op.name.startswith("buffer_"))
        return uses == [put] and not any(
            op is not put and op.name != "buffer_put" and self.facts.overlap.meet(op.operands[0], put.operands[0])
            for op in others
        )

    def reads_first(self) -> bool:
        """Does a cell read nothing that it has written: it is begun anew where it raises."""
        written: list[Value] = []
        for op in self.cells:
            if op.name in _READS and any(self.facts.overlap.meet(op.operands[0], v) for v in written):
                return False
            if op.name in _WRITES:
                written.append(op.operands[0])
        return True

    def is_private(self) -> bool:
        """Is what is written memory that this function has made and only it knows."""
        written = [op.operands[0] for op in (*self.cells, *self.after) if op.name in _WRITES]
        bases = {self.facts.overlap.base(v) for v in written}
        made = (self.facts.overlap.maker.get(base) for base in bases)
        if not all(op is not None and op.name in ALLOCATIONS for op in made):
            return False
        body = self.facts.function.body
        blocks = [body, *(block for op in body.walk() for block in op.blocks)]
        if any(self.facts.overlap.base(v) in bases for block in blocks[1:] for v in block.results):
            return False
        return all(
            op.name in _KNOWN or op.name == "free" or self.facts.overlap.base(v) not in bases
            for op in body.walk() for v in op.operands
        )  # fmt: skip


def _accesses(ops: Iterator[Op] | Sequence[Op]) -> list[Op]:
    return [op for op in ops if op.name in _READS | _WRITES]


class _Rows(Pair):
    """Two accesses of one array, the second in one of the rows that follow.

    inner: the loop of the cells, if only such cells count as have changed their order.  early: cells of one step have.
    """

    def __init__(
        self, facts: Facts, loop: Op, inner: Op | None, one: Op, other: Op, rows: int, early: bool = False
    ) -> None:  # fmt: skip
        super().__init__(facts.aliases, 0, one, other)
        self.loop, self.inner, self.together, self.early = loop, inner, rows, early

    def never(self) -> bool:
        level = next((i for i, loop in enumerate(self.loops[: self.common]) if loop is self.loop), None)
        return level is not None and self._apart(level, same=False)

    def _more(self) -> None:
        index = self.loop.blocks[0].params[0]
        apart = difference(self._linear(index, True), self._linear(index, False))
        self._state(difference({}, apart, self.together - 1))
        if self.inner is not None:
            column = self.inner.blocks[0].params[0]
            ahead = difference(self._linear(column, False), self._linear(column, True))
            self._state(difference(ahead, apart, 0 if self.early else -1))
