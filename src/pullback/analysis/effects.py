"""What ops do to memory: alias classes of references, who writes and reads each class, what may be dropped or moved.

    s = array_zeros n            classes: {s, v}, written by array_inc; nothing reads it here
    v = view_index s, i          {a}: the caller's, in the class WORLD with everything that comes from or goes outside
    array_inc v, j, x
    y = array_get a, i           a read of WORLD; stable, since nothing writes WORLD

Classes are those of one flow-insensitive walk: views, selections, carried values, and everything stored in one record
or buffer join one class.  Each column of a table is a class, and what its cells refer to is another.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pullback.analysis.cells import TABLE_WRITES, Cells, cell_writes, column_of, table_key
from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.types import ArrayRef, Box, Buffer, Machine, Table

__all__ = [
    "ALLOCATIONS", "CALLS", "VIEWS", "Memory", "carried", "droppable_call", "elementwise_inputs", "elementwise_targets",
    "is_pure", "is_reference",
]  # fmt: skip

WORLD = Value(None, "world")
VIEWS = frozenset({
    "view_index", "view_expand", "view_transpose", "view_slice", "view_reshape", "view_diagonal", "view_relax",
})  # fmt: skip
CALLS = frozenset({"call", "value_and_grad", "jvp", "vjp", "pullback"})
ALLOCATIONS = frozenset({"array_empty", "array_zeros", "matmul", "lapack", "elementwise", "buffer", "buffer_zeros"})

_INCREMENTS = frozenset({"array_inc", "array_swap", "matmul_inc", "slot_inc", "buffer_inc"})
_CHANGES = _INCREMENTS | TABLE_WRITES | {"table_rows"}
# Ops that read the content of their reference operands.
_READERS = frozenset({"array_get", "array_swap", "buffer_get", "slot_get", "unbox", "matmul", "lapack"})
# Ops through which a reference reaches another: all references among operands and results share a class.
_JOINING = VIEWS | {"select", "box", "unbox", "slot_get", "buffer_get", "buffer_put"}


def is_reference(type_: Machine | None) -> bool:
    """Does a value of this type refer to memory that has a class of its own (tables have one for each column)."""
    return isinstance(type_, ArrayRef | Box | Buffer)


def carried(op: Op) -> Iterator[tuple[Value, ...]]:
    """For each carried value of a loop, or result of an `if`: all values that stand for it, the result first."""
    if op.name == "if":
        yield from zip(op.results, op.blocks[0].results, op.blocks[1].results, strict=True)
    elif op.name == "for":
        body = op.blocks[0]
        yield from zip(op.results, op.operands[1:], body.params[1:], body.results, strict=True)
    elif op.name == "while":
        cond, body = op.blocks
        yield from zip(op.results, op.operands, cond.params, body.params, body.results, strict=True)


def is_pure(op: Op) -> bool:
    """No effects, in nested blocks either."""
    if op.prim.effects:
        return False
    return all(is_pure(inner) for block in op.blocks for inner in block.ops)


_LENGTH = -1
_NO_TABLES: tuple[set[Value], set[Value]] = (set(), set())


def _tables(function: Function) -> tuple[set[Value], set[Value]]:
    """Tables that records or buffers keep, and those that others know as well."""
    kept: set[Value] = set()
    outside = {v for v in function.body.params if isinstance(v.type, Table)}
    for op in function.body.walk():
        if not op.name.startswith("table"):
            for value in op.operands:
                if isinstance(value.type, Table):
                    outside.add(value)
            for value in op.results:
                if isinstance(value.type, Table):
                    kept.add(value)
    return kept, outside | kept


class Memory:
    """Alias classes of the references of one function, and its writes and reads by class."""

    def __init__(self, function: Function, program: Program) -> None:
        self._program = program
        self._callees = _Callees(program)
        self._parent: dict[Value, Value] = {}
        self.writes: dict[Value, list[Op]] = {}
        self._increased: set[Value] = set()
        self._targets: list[tuple[Op, Value]] = []
        self._function = function
        self._facts: Cells | None = None
        self._columns: dict[tuple[Value | str, int, bool], Value] = {}
        self._kept, self._outside = _NO_TABLES
        for value in (*function.body.params, *function.body.results):
            if is_reference(value.type):
                self._union(value, WORLD)
        self._block(function.body)
        for op, target in self._targets:
            root = self.root(target)
            self.writes.setdefault(root, []).append(op)
            if op.name != "buffer_put":
                self._increased.add(root)

    def root(self, value: Value) -> Value:
        """The representative of the value's class."""
        parent = self._parent
        found = value
        while (above := parent.get(found)) is not None:
            found = above
        while value is not found:
            parent[value], value = found, parent[value]
        return found

    def world(self) -> Value:
        """The class of everything that the caller or other functions can reach."""
        return self.root(WORLD)

    def stable(self, value: Value) -> bool:
        """Is memory reached from this reference written at most once, before it is first read.

        Arrays that nothing in the function increments, and buffers: their elements are written once.
        """
        return self.root(value) not in self._increased

    def reads(self, op: Op) -> list[Value]:
        """Classes whose content the op (not its blocks) reads."""
        if op.name in CALLS:
            return [self.world(), *(self.root(v) for v in op.operands if is_reference(v.type))]
        if op.name == "matmul_inc":
            return [self.root(v) for v in op.operands[1:]]
        if op.name == "elementwise":
            return [self.root(v) for v in elementwise_inputs(op) if is_reference(v.type)]
        if op.name == "table_copy":
            table = op.operands[0]
            return [self.root(self.cell(table, place)) for place in range(_LENGTH, self._width(table))]
        if op.name.startswith("table_"):  # all need the rows to be there
            found = [self.root(self.cell(op.operands[0], _LENGTH))]
            if op.name in ("table_get", "table_swap", "table_inc"):
                found.append(self.root(self.cell(op.operands[0], column_of(op))))
            return found
        if op.name in _READERS:
            return [self.root(v) for v in op.operands if is_reference(v.type)]
        return []

    def rewritten(self, op: Op) -> bool:
        """May what a `table_get` reads be something else at another time (see `cells`)."""
        if self._facts is None:
            called = [str(o.attrs["callee"]) for o in self._function.body.walk() if "callee" in o.attrs]
            self._facts = Cells(self._function, cell_writes(self._program, called))
        return self._facts.rewritten(op)

    def _width(self, table: Value) -> int:
        assert isinstance(table.type, Table)
        return len(self._program.layouts[table.type.name][0])

    def cell(self, table: Value, column: int, *, content: bool = False) -> Value:
        """What stands for the class of a column (_LENGTH: the number of rows), or of what its cells refer to."""
        key = table_key(table, self._kept)
        found = self._columns.get((key, column, content))
        if found is None:
            found = self._columns[key, column, content] = Value(None, "cells")
            if isinstance(key, str) or key in self._outside:
                self._union(found, WORLD)
        return found

    def _union(self, *values: Value) -> None:
        first, *rest = values
        root = self.root(first)
        for value in rest:
            other = self.root(value)
            if other is not root:
                self._parent[other] = root

    def _block(self, block: Block) -> None:
        for op in block.ops:
            name = op.name
            if op.blocks:
                self._structured(op)
            elif name in _INCREMENTS:
                self._targets.append((op, op.operands[0]))
            elif name in _JOINING:
                self._join([v for v in (*op.operands, *op.results) if is_reference(v.type)])
                if name == "buffer_put":
                    self._targets.append((op, op.operands[0]))
            elif name.startswith("table_"):
                self._table(op)
            elif name in CALLS:
                self._join([WORLD, *(v for v in (*op.operands, *op.results) if is_reference(v.type))])
                if self._callees.change(str(op.attrs["callee"])):
                    self._targets.append((op, WORLD))

    def _table(self, op: Op) -> None:
        if self._kept is _NO_TABLES[0]:  # most functions use none
            self._kept, self._outside = _tables(self._function)
        table = op.operands[0]
        if op.name == "table_copy":
            for place in range(self._width(table)):
                self._union(self.cell(table, place, content=True), self.cell(op.result, place, content=True))
            return
        if op.name == "table_rows":
            self._targets.append((op, self.cell(table, _LENGTH)))
        if op.name in TABLE_WRITES:
            self._targets.append((op, self.cell(table, column_of(op))))
        for value in (*op.operands[2:], *op.results):
            if is_reference(value.type):
                self._join([value, self.cell(table, column_of(op), content=True)])

    def _join(self, references: Sequence[Value]) -> None:
        if references:
            self._union(*references)

    def _structured(self, op: Op) -> None:
        if op.name == "elementwise":
            self._targets += [(op, target) for target in elementwise_targets(op)]
        for group in carried(op):
            if is_reference(group[0].type):
                self._union(*group)
        for block in op.blocks:
            self._block(block)


def elementwise_inputs(op: Op) -> list[Value]:
    """The operands whose elements an `elementwise` reads, one per parameter of its block."""
    rank = int(str(op.attrs["rank"]))
    return op.operands[rank : rank + len(op.blocks[0].params)]


def elementwise_targets(op: Op) -> list[Value]:
    """The operands that an `elementwise` writes, in the order of its "inc" and "set" outputs."""
    rank = int(str(op.attrs["rank"]))
    return op.operands[rank + len(op.blocks[0].params) :]


class _Callees:
    """Which functions change memory that existed before (an increment of any memory counts), each looked at once."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._known: dict[str, tuple[bool, tuple[str, ...]]] = {}

    def change(self, name: str) -> bool:
        """May a call of the function do so, itself or in what it calls."""
        seen, waiting = {name}, [name]
        while waiting:
            changes, callees = self._look(waiting.pop())
            if changes:
                return True
            waiting += [callee for callee in callees if callee not in seen]
            seen.update(callees)
        return False

    def _look(self, name: str) -> tuple[bool, tuple[str, ...]]:
        found = self._known.get(name)
        if found is None:
            function = self._program.functions.get(name)
            found = self._known[name] = (True, ()) if function is None else _own_changes(function)
        return found


def _own_changes(function: Function) -> tuple[bool, tuple[str, ...]]:
    callees: dict[str, None] = {}
    for op in function.body.walk():
        if op.name in CALLS:
            callees[str(op.attrs["callee"])] = None
        elif op.name in _CHANGES or (op.name == "elementwise" and elementwise_targets(op)):
            return True, ()
    return False, tuple(callees)


def droppable_call(op: Op, program: Program) -> bool:
    """May a call be left out when nobody wants its results: it cannot raise, write, or recur."""
    return op.name == "pullback" or _droppable(str(op.attrs["callee"]), program, set())


def _droppable(name: str, program: Program, active: set[str]) -> bool:
    function = program.functions.get(name)
    if function is None or name in active:
        return False
    active.add(name)
    for op in function.body.walk():
        if op.name in CALLS:
            if not _droppable(str(op.attrs["callee"]), program, active):
                return False
        elif op.name in ("check", "text_effect", *_CHANGES) or (op.name == "elementwise" and elementwise_targets(op)):
            return False
    active.discard(name)
    return True
