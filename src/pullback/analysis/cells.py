"""What a function writes in tables: which columns of which tables, and which of these writes only fill new rows.

    r = table_rows t, one
    table_set{0} t, r, x          first: row r is new, and nobody has read its column 0
    y = table_get{0} t, p
    table_set{0} t, p, z          a rewrite of (t, 0): what was read may be something else later

A table is known by the one value that stands for it: the op that makes it, or a parameter (a caller never passes one
table as two parameters).  Tables that were kept in records or buffers are known by their name.  A column that is never
rewritten keeps what a row was made with, so it may be read again at any time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.types import Table

__all__ = ["NO_CELLS", "TABLE_WRITES", "Cell", "CellWrites", "Cells", "cell_writes", "column_of", "table_key"]

TABLE_WRITES = frozenset({"table_set", "table_swap", "table_inc"})
_READS = frozenset({"table_get", "table_swap", "table_inc"})
_ACCESS = _READS | {"table_set"}
_KEPT = frozenset({"unbox", "slot_get", "buffer_get"})

Key = Value | str
Cell = tuple[Key, int]  # a table and a column
Place = tuple[int, int]  # the number of a parameter and a column


@dataclass(frozen=True, slots=True)
class CellWrites:
    """What a function, with all it calls, does to the tables it is given: columns written, and those rewritten."""

    stored: frozenset[Place] = frozenset()
    rewritten: frozenset[Place] = frozenset()


NO_CELLS = CellWrites()


def column_of(op: Op) -> int:
    """The column that an op reads or writes."""
    return int(str(op.attrs["column"]))


def table_key(value: Value, kept: Iterable[Value] = ()) -> Key:
    """What a table is known by; `kept`: those that records and buffers keep."""
    assert isinstance(value.type, Table)
    return value.type.name if value in kept else value


def _kind(table: Value) -> str:
    """The name of the table that it is, or that it is the twin of."""
    assert isinstance(table.type, Table)
    return table.type.name.rstrip("'")


@dataclass(slots=True)
class _Row:
    """A new row while its block goes on: when it was made, is it known elsewhere, what of it was read (seen: all)."""

    moment: int
    table: str
    known: bool = False
    seen: bool = False
    read: set[Cell] = field(default_factory=set)


class Cells:
    """first: the writes that only fill new rows.  writes: per cell the ops, calls too, that may rewrite it.

    stored: all cells that are written, by calls too.
    """

    def __init__(self, function: Function, callees: Mapping[str, CellWrites]) -> None:
        self.first: set[Op] = set()
        self.writes: dict[Cell, list[Op]] = {}
        self.stored: set[Cell] = set()
        found = (v for op in function.body.walk() if op.name in _KEPT for v in op.results)
        self.kept = {v for v in found if isinstance(v.type, Table)}
        self._callees = callees
        self._new: dict[Value, _Row] = {}  # the new rows of all blocks around
        self._open: dict[Value, _Row] = {}  # those that are known, and not yet seen
        self._moments: dict[Value, int] = {}  # what was defined since there were new rows, in order
        self._block(function.body)

    def cell(self, op: Op) -> Cell:
        """The cell that an op reads or writes."""
        return table_key(op.operands[0], self.kept), column_of(op)

    def rewritten(self, op: Op) -> bool:
        """May what a `table_get` reads be rewritten anywhere in the function."""
        cell = self.cell(op)
        return cell in self.writes or isinstance(cell[0], str)

    def called(self, op: Op, places: Iterable[Place]) -> list[Cell]:
        """The cells of the caller that the places of a callee are; what a pullback needs is in its record."""
        return [] if op.name == "pullback" else [(table_key(op.operands[i], self.kept), column) for i, column in places]

    def _block(self, block: Block) -> None:
        made: set[Value] = set()
        if self._new:
            self._define(block.params)
        for op in block.ops:
            if op.name in TABLE_WRITES:
                self._write(op, op.name == "table_set" and op.operands[1] in made)
            elif "callee" in op.attrs:
                self._call(op)
            if self._new:
                self._see(op)
            if op.blocks:
                self._inside(op)
            if op.name == "table_rows" and not op.attrs.get("numbered"):
                self._new[op.result] = _Row(len(self._moments), _kind(op.operands[0]))
                made.add(op.result)
            if self._new:
                self._define(op.results)
        for value in made:
            del self._new[value]
            self._open.pop(value, None)

    def _inside(self, op: Op) -> None:
        secret = [row for row in self._new.values() if not row.known] if self._new and op.name != "if" else []
        for block in op.blocks:
            self._block(block)
        if secret and any(row.known for row in secret):  # the next trip begins with what this one has told
            for block in op.blocks:
                for again in block.walk():
                    self._see(again)

    def _define(self, values: Iterable[Value]) -> None:
        for value in values:
            self._moments.setdefault(value, len(self._moments))

    def _write(self, op: Op, here: bool) -> None:
        """A write; `here`: to a row that this block made."""
        cell = self.cell(op)
        self.stored.add(cell)
        row = self._new.get(op.operands[1]) if here else None
        if row is not None and row.table == _kind(op.operands[0]) and not row.seen and cell not in row.read:
            self.first.add(op)  # the only one, for it is noted as an access as well
        else:
            self.writes.setdefault(cell, []).append(op)

    def _call(self, op: Op) -> None:
        found = self._callees.get(str(op.attrs["callee"]), NO_CELLS)
        self.stored.update(self.called(op, found.stored))
        for cell in self.called(op, found.rewritten):
            self.writes.setdefault(cell, []).append(op)

    def _see(self, op: Op) -> None:
        """Note which columns of new rows an op may read or fill, and whom it tells of them; not what is inside it."""
        access = op.name in _ACCESS
        self._tell(op.operands[2:] if access else op.operands)
        for block in op.blocks:
            self._tell(block.results)
        if access:
            number = op.operands[1]
            row = self._new.get(number)
            if row is not None:
                row.read.add(self.cell(op))
            elif self._open:  # a write by another number may have filled the row already
                cell, moment = self.cell(op), self._moments.get(number, -1)
                for row in self._open.values():
                    if row.moment <= moment:
                        row.read.add(cell)
        elif "callee" in op.attrs:
            for row in self._open.values():
                row.seen = True
            self._open.clear()

    def _tell(self, values: Iterable[Value]) -> None:
        for value in values:
            row = self._new.get(value)
            if row is not None and not row.known:
                row.known = True
                self._open[value] = row


def cell_writes(program: Program, names: Iterable[str] | None = None) -> dict[str, CellWrites]:
    """The facts of all functions, or of those named and all that they call."""
    waiting = list(program.functions if names is None else names)
    reached: dict[str, Function] = {}
    callers: dict[str, set[str]] = {}
    while waiting:
        name = waiting.pop()
        function = program.functions.get(name)
        if function is not None and name not in reached:
            reached[name] = function
            called = dict.fromkeys(str(op.attrs["callee"]) for op in function.body.walk() if "callee" in op.attrs)
            for callee in called:
                callers.setdefault(callee, set()).add(name)
            waiting += called
    tables = {n: f for n, f in reached.items() if any(isinstance(v.type, Table) for v in f.body.params)}
    found = dict.fromkeys(tables, NO_CELLS)
    pending = dict.fromkeys(tables)  # callees come last, and are taken first
    while pending:
        name, _ = pending.popitem()
        function = tables[name]
        place = {v: i for i, v in enumerate(function.body.params)}
        cells = Cells(function, found)
        stored = frozenset((place[key], column) for key, column in cells.stored if key in place)
        rewritten = frozenset((place[key], column) for key, column in cells.writes if key in place)
        summary = CellWrites(stored, rewritten)
        if summary != found[name]:
            found[name] = summary
            pending.update(dict.fromkeys(caller for caller in callers.get(name, ()) if caller in tables))
    return found
