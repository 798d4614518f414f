"""Rows and records that no trip of a loop leaves to the next are given back at its end.

    for n, s:                                   for n, s:
      body (k, a):                                body (k, a):
        r = table_rows t, one                       before = table_length t
        table_set{0} t, r, a              ->        r = table_rows t, one; ...
        b = call f(t, r)                            b = call f(t, r)
        yield b                                     table_cut t, before
                                                    yield b

A number may be that of a row if it is one, is read from where numbers of rows may be kept, or is computed from such.
As long as none of them is carried on, stored in an older row or in memory from outside the loop, the rows of the trip
are garbage at its end.  The same is asked of records.  It belongs at the end: a derivative wants all rows to stay.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from pullback.analysis.cells import CellWrites, cell_writes
from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.ir.walk import defined, uses
from pullback.prims.base import Emitter
from pullback.types import I64, Box, Buffer, Machine, Table

__all__ = ["run"]

_SOURCES = frozenset({"table_rows", "table_length", "table_get", "table_swap", "unbox", "slot_get", "buffer_get"})
_STORES = {"table_set": 2, "table_swap": 2, "buffer_put": 2}  # the operand that is stored


def run(function: Function, program: Program) -> None:
    """Cut back the tables, and the records, at the end of every trip that allows it; outer loops first."""
    loops = [op for op in function.body.walk() if op.name in ("for", "while")]
    if any(_makes_garbage(op) for loop in loops for op in loop.blocks[-1].walk()):
        facts = _Facts(function, program)
        for op in loops:
            _Trip(facts, op.blocks[-1]).release(op)


def _reached(function: Function, program: Program) -> dict[str, Block]:
    """The bodies of all functions that this one calls, and they."""
    found: dict[str, Block] = {}
    waiting = [function.body]
    while waiting:
        called = dict.fromkeys(str(op.attrs["callee"]) for op in waiting.pop().walk() if op.name == "call")
        new = {name: program.functions[name].body for name in called if name in program.functions and name not in found}
        found |= new
        waiting += new.values()
    return dict(reversed(found.items()))  # callees come first


def _makes_garbage(op: Op) -> bool:
    """Rows or records, perhaps."""
    if op.name == "call":
        return any(isinstance(v.type, Table | Box) for v in (*op.operands, *op.results))
    return op.name in ("table_rows", "box")


class _Facts:
    """What functions do: the tables among their parameters that they let grow, and those with numbers rewritten."""

    def __init__(self, function: Function, program: Program) -> None:
        self.program = program
        self._called = _reached(function, program)
        self._grown: dict[str, set[int]] = {name: set() for name in self._called}
        self._records = dict.fromkeys(self._called, False)
        self._counted = dict.fromkeys(self._called, False)
        changed = True
        while changed:
            learnt = [self._learn(name, block) for name, block in self._called.items()]
            changed = any(learnt)

    def _learn(self, name: str, body: Block) -> bool:
        """Look at a function again; did that say anything new."""
        number = {v: i for i, v in enumerate(body.params)}
        found = {number[v] for v in self.grown(body) if v in number}
        records = any(map(self.makes_records, body.walk()))
        counted = any(map(self.counts_rows, body.walk()))
        before = self._grown[name], self._records[name], self._counted[name]
        self._grown[name], self._records[name], self._counted[name] = found, records, counted
        return before != (found, records, counted)

    @cached_property
    def _cells(self) -> dict[str, CellWrites]:
        return cell_writes(self.program, self._called)

    def grown(self, block: Block) -> dict[Value, None]:
        """The tables that get rows in the block."""
        found: dict[Value, None] = {}
        for op in block.walk():
            if op.name == "table_rows":
                found[op.operands[0]] = None
            elif op.name == "call":
                found.update((op.operands[i], None) for i in sorted(self._grown.get(str(op.attrs["callee"]), ())))
        return found

    def makes_records(self, op: Op) -> bool:
        return op.name == "box" or (op.name == "call" and self._records.get(str(op.attrs["callee"]), True))

    def counts_rows(self, op: Op) -> bool:
        """Are there rows made that may be reached by numbers that were counted."""
        if op.name == "call":
            return self._counted.get(str(op.attrs["callee"]), True)
        return op.name == "table_rows" and bool(op.attrs.get("numbered"))

    def keeps(self, op: Op) -> bool:
        """May a call store the number of a row in an older row."""
        found = self._cells.get(str(op.attrs["callee"]))
        places = found.rewritten if found is not None else ()
        return any(_may_keep(self.column(op.operands[i], column)) for i, column in places)

    def column(self, table: Value, column: int) -> Machine:
        assert isinstance(table.type, Table)
        return self.program.layouts[table.type.name][0][column]


def _may_keep(type_: Machine | None) -> bool:
    """Can a value of the type be the number of a row, or lead to one."""
    return type_ == I64 or isinstance(type_, Box | Buffer)


class _Trip:
    """The body of a loop."""

    def __init__(self, facts: _Facts, body: Block) -> None:
        self.facts, self.body = facts, body
        self.inside = defined(body, nested=True)
        self.suspect: set[Value] = set()  # numbers of rows, perhaps, and what may lead to them
        self.fresh: set[Value] = set()  # rows of this trip, for certain
        before = -1
        while len(self.suspect) > before:
            before = len(self.suspect)
            self._spread(body)

    def release(self, loop: Op) -> None:
        """Add what gives back, if nothing of this trip is wanted later."""
        tables = [t for t in self.facts.grown(self.body) if t not in self.inside]
        records = any(map(self.facts.makes_records, self.body.walk()))
        if not (tables or records) or any(map(self.facts.counts_rows, self.body.walk())) or not self._local():
            return
        start, end = Emitter(Block(), loop.span), Emitter(Block(), loop.span)
        for table in tables:
            end.op("table_cut", table, start("table_length", table))
        if records:
            end.op("record_cut", start("record_room"))
        self.body.ops = [*start.block.ops, *self.body.ops, *end.block.ops]

    # ------------------------------------------------------------------------------------------------------ numbers

    def _spread(self, block: Block) -> None:
        for op in block.ops:
            for inner in op.blocks:
                self._spread(inner)
            if op.name == "table_rows" or (op.name == "add" and any(v in self.fresh for v in op.operands)):
                self.fresh.update(op.results)
            if op.blocks:
                self._merge(op)
            elif self._makes(op):
                self.suspect.update(v for v in op.results if _may_keep(v.type))

    def _makes(self, op: Op) -> bool:
        if op.name in _SOURCES or op.name == "call":
            return True
        return any(v in self.suspect for v in op.operands)

    def _merge(self, op: Op) -> None:
        """Whatever one of the values that control merges may be, all may be."""
        groups = [list(op.results)]
        for block in op.blocks:
            groups += [block.results, block.params]
        if any(v in self.suspect for group in (*groups, op.operands) for v in group if _may_keep(v.type)):
            counter = op.blocks[0].params[:1] if op.name == "for" else []
            self.suspect.update(v for group in groups for v in group if _may_keep(v.type) and v not in counter)

    # -------------------------------------------------------------------------------------------------------- escape

    def _local(self) -> bool:
        """Does no number of a row, and no record, outlive the trip."""
        if any(self._matters(v) for v in self.body.results):
            return False
        used = uses(self.body)
        if any(op.name == "table_rows" and op.result not in used for op in self.body.walk()):
            # More room behind rows that are known by counting: perhaps in what the loop carries.
            carried = self.body.params[len(self.body.params) - len(self.body.results) :]
            if any(v.type == I64 and v is not p for v, p in zip(self.body.results, carried, strict=True)):
                return False
        return not any(self._escapes(op) for op in self.body.walk())

    def _matters(self, value: Value) -> bool:
        made_here = isinstance(value.type, Box | Buffer) and value in self.inside
        return value in self.suspect or made_here

    def _escapes(self, op: Op) -> bool:
        if op.name == "call":
            outer = any(isinstance(v.type, Box | Buffer) and v not in self.inside for v in op.operands)
            return outer or self.facts.keeps(op)
        if op.name in _STORES:
            stored, where = op.operands[_STORES[op.name]], op.operands[0 if op.name == "buffer_put" else 1]
            kept = where in self.inside if op.name == "buffer_put" else where in self.fresh
            return self._matters(stored) and not kept
        if "write" in op.prim.effects and op.name not in _HARMLESS:
            return any(self._matters(v) for v in self._given(op))
        return False

    def _given(self, op: Op) -> Iterator[Value]:
        """What an op that writes may store: not the numbers that say where."""
        yield from (v for v in op.operands[-1:] if op.name in ("array_swap", "array_inc"))
        if op.name not in ("array_swap", "array_inc"):
            yield from op.operands


_HARMLESS = frozenset({
    "table_rows", "table_inc", "table_cut", "record_cut", "free", "buffer_inc", "slot_inc", "matmul_inc", "elementwise",
})  # fmt: skip
