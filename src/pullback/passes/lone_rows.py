"""Which rows of tables nobody else can know: their numbers are used to reach their cells, and for nothing else.

    r = table_rows t, one             lone: r reaches cells, and is merged with s, which is lone as well
    table_set{0} t, r, x
    p = if c {r} {s}
    y = table_get{0} t, p

Rows of a twin are reached by numbers of the table that it is the twin of, so neither are taken.  Rows that control
merges have several names, so they are taken only where nothing writes them once they have flowed on: then what stands
in them are values.  A row with one name may be written anywhere.  None, a placeholder, is a constant.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from pullback.analysis.cells import TABLE_WRITES, Cells, cell_writes, column_of
from pullback.analysis.effects import carried
from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.types import I64, Buffer, Machine, Table

__all__ = ["MOST_ROWS", "LoneRows"]

MOST_ROWS = 16  # that are made at once
_MOST_CELLS = 64
_ACCESS = frozenset({"table_get", *TABLE_WRITES})


@dataclass(slots=True, eq=False)
class _Class:
    """Values that may be the same rows."""

    rows: list[Value] = field(default_factory=list)
    merged: bool = False
    bad: bool = False


class LoneRows:
    """`cells(value)`: for a lone row, or what several of them merge to, the types of its cells; else None.

    offset[value]: rows that are counted from another one: that one, and how many further.  written[op]: the lone rows
    from outside a structured op, with the numbers of their cells, that something inside writes.
    """

    def __init__(self, function: Function, program: Program) -> None:
        self._function, self._program = function, program
        self._layouts = program.layouts
        self.constants: dict[Value, int] = {}
        self.made: dict[Value, Op] = {}
        self.offset: dict[Value, tuple[Value, int]] = {}
        self.written: dict[Op, list[tuple[Value, int]]] = {}
        self._parent: dict[Value, Value] = {}
        self._classes: dict[Value, _Class] = {}
        self._home: dict[Value, int] = {}
        self._collect(function.body)
        if self.made:
            self._classify(function)
            self._flowed: set[Value] = set()
            self._walk(function.body, [])
            for value in function.body.results:
                self._spoil(value)

    @cached_property
    def _first(self) -> set[Op]:
        """The writes that only fill new rows: asked for few functions, and costs a look at all that they call."""
        called = [str(op.attrs["callee"]) for op in self._function.body.walk() if "callee" in op.attrs]
        return Cells(self._function, cell_writes(self._program, called)).first

    def any(self) -> bool:
        return any(self.cells(row) is not None for row in self.made)

    def cells(self, value: Value) -> list[Machine] | None:
        """The types of the cells, row by row, of a lone row."""
        found = self._classes.get(self._find(value))
        if found is None or found.bad or not found.rows or value in self.constants:
            return None
        made = self.made[found.rows[0]]
        return self._columns(made) * self.constants[made.operands[1]]

    def cell(self, op: Op) -> tuple[Value, int]:
        """The lone row that an access goes to, and the number of the cell."""
        row, further = self.offset.get(op.operands[1], (op.operands[1], 0))
        table = op.operands[0].type
        assert isinstance(table, Table)
        return row, further * len(self._layouts[table.name][0]) + column_of(op)

    def _columns(self, made: Op) -> list[Machine]:
        table = made.operands[0].type
        assert isinstance(table, Table)
        return list(self._layouts[table.name][0])

    # ------------------------------------------------------------------------------------------------------ classes

    def _find(self, value: Value) -> Value:
        while (above := self._parent.get(value)) is not None:
            value = above
        return value

    def _collect(self, block: Block) -> None:
        for op in block.walk():
            if op.name == "const" and type(op.attrs["value"]) is int:
                self.constants[op.result] = op.attrs["value"]
            elif op.name == "table_rows":
                count, columns = self.constants.get(op.operands[1], 0), self._columns(op)
                plain = not any(isinstance(column, Buffer | Table) for column in columns)
                plain = plain and not _is_twin(op.operands[0]) and not op.attrs.get("numbered")
                if 0 < count <= MOST_ROWS and count * len(columns) <= _MOST_CELLS and plain:
                    self.made[op.result] = op
            elif op.name == "add" and op.result.type == I64:
                self._count(op)

    def _count(self, op: Op) -> None:
        row, further = op.operands
        amount = self.constants.get(further)
        if row in self.made and amount is not None:
            if 0 <= amount < self.constants[self.made[row].operands[1]]:
                self.offset[op.result] = (row, amount)

    def _classify(self, function: Function) -> None:
        """Join what control merges."""
        merging = [op for op in function.body.walk() if op.name in ("if", "for", "while")]
        groups = [
            [v for v in group if v not in self.constants]
            for op in merging for group in carried(op) if group[0].type == I64
        ]  # fmt: skip
        for first, *others in groups:
            for other in others:
                one, two = self._find(first), self._find(other)
                if one is not two:
                    self._parent[two] = one
        for row in self.made:
            self._classes.setdefault(self._find(row), _Class()).rows.append(row)
        # Rows that nobody reaches by their number are more room behind others, and reached by theirs.
        numbers = [op.operands[1] for op in function.body.walk() if op.name in _ACCESS]
        reached = {self.offset.get(v, (v, 0))[0] for v in numbers}
        known = {*self.made, *(v for op in merging for v in (*op.results, *(p for b in op.blocks for p in b.params)))}
        for group in groups:
            found = self._classes.get(self._find(group[0]))
            if found is not None:
                found.merged = True
                found.bad = found.bad or not known.issuperset(group)  # a number that comes from elsewhere
        for found in self._classes.values():
            makers = [self.made[row] for row in found.rows]
            several = len({op.operands[0] for op in makers}) > 1
            many = found.merged and any(self.constants[op.operands[1]] > 1 for op in makers)
            found.bad = found.bad or several or many or not all(row in reached for row in found.rows)
        counters = {op.blocks[0].params[0] for op in merging if op.name == "for"}
        for counter in counters:
            self._spoil(counter)  # it is no row
        # Where derivatives begin and end they go through all rows of a table.
        passed = {op.operands[0] for op in function.body.walk() if op.name in _ACCESS and op.operands[1] in counters}
        for row, made in self.made.items():
            if made.operands[0] in passed:
                self._spoil(row)

    def _spoil(self, value: Value) -> None:
        """The number is used for something else."""
        row, _ = self.offset.get(value, (value, 0))
        found = self._classes.get(self._find(row))
        if found is not None and value not in self.constants:
            found.bad = True

    # ----------------------------------------------------------------------------------------------------- the walk

    def _walk(self, block: Block, around: list[Op], *, test: bool = False) -> None:
        """`around`: the structured ops that hold the block; `test`: it is the condition of a `while`."""
        self._home.update(dict.fromkeys((*block.params, *(v for op in block.ops for v in op.results)), len(around)))
        for op in block.ops:
            self._op(op, around, test)
            for number, inner in enumerate(op.blocks):
                self._walk(inner, [*around, op], test=test or (op.name == "while" and number == 0))
                self._flowed.update(inner.results)

    def _op(self, op: Op, around: list[Op], test: bool) -> None:
        if op.name in ("if", "for", "while"):
            fixed = op.name != "while"
            for value in op.operands[:fixed]:
                self._spoil(value)
            self._flowed.update(op.operands[fixed:])
        elif op.name in _ACCESS:
            for value in (*op.operands[2:], *(() if self._own(op) else op.operands[1:2])):
                self._spoil(value)
            if op.name in TABLE_WRITES:
                self._write(op, around, test)
        elif not self._counts(op) and not (op.name in ("eq", "ne") and self._told_apart(*op.operands)):
            for value in op.operands:
                self._spoil(value)

    def _counts(self, op: Op) -> bool:
        return bool(op.results) and op.results[0] in self.offset

    def _own(self, op: Op) -> bool:
        """Does an access go to the table that makes the row."""
        row, _ = self.offset.get(op.operands[1], (op.operands[1], 0))
        found = self._classes.get(self._find(row))
        return found is not None and self.made[found.rows[0]].operands[0] is op.operands[0]

    def _told_apart(self, one: Value, other: Value) -> bool:
        """Is it known whether the two are the same row: one is lone and has one name, and the other is not merged."""
        return (self._single(one) or self._single(other)) and not any(self._merged(v) for v in (one, other))

    def _single(self, value: Value) -> bool:
        return value in self.made and not self._merged(value)

    def _merged(self, value: Value) -> bool:
        found = self._classes.get(self._find(value))
        return found is not None and found.merged

    def _write(self, op: Op, around: list[Op], test: bool) -> None:
        row, cell = self.cell(op)
        found = self._classes.get(self._find(row))
        if found is None:
            return
        if found.merged:
            found.bad = found.bad or op not in self._first or row in self._flowed
            return
        if test:
            found.bad = True
        for holder in around[self._home[row] :]:
            cells = self.written.setdefault(holder, [])
            if (row, cell) not in cells:
                cells.append((row, cell))


def _is_twin(table: Value) -> bool:
    assert isinstance(table.type, Table)
    return table.type.name.endswith("'")
