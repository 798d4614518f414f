"""Rows of tables that nobody else knows become values: a local object costs no memory.

    r = table_rows t, one                        (a, b are what stands in the cells)
    table_set{0} t, r, x                         a1 = for n, x:
    for n:                                         body (k, a):
      v = table_get{0} t, r             ->           w = mul a, h
      w = mul v, h                                   yield w
      table_set{0} t, r, w                       return a1
    return table_get{0} t, r

Which rows may go is decided in `lone_rows`.  What an object holds becomes plain values when it goes, so that an object
that was known to it alone goes in the next round.
"""

from __future__ import annotations

from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.passes.lone_rows import LoneRows
from pullback.prims.base import Emitter
from pullback.types import BOOL, ArrayRef, Box, Machine, Scalar

__all__ = ["run"]

ROUNDS = 6


def run(function: Function, program: Program) -> None:
    """Promote the lone rows of the function."""
    for _ in range(ROUNDS):
        if not any(op.name == "table_rows" for op in function.body.walk()):
            return
        rows = LoneRows(function, program)
        if not rows.any():
            return
        _Promoter(rows).function(function)


class _Promoter:
    """`content[row]`: what stands in its cells at this point."""

    def __init__(self, rows: LoneRows) -> None:
        self.rows = rows
        self.content: dict[Value, list[Value]] = {}
        self.mapping: dict[Value, Value] = {}
        self.top = Emitter(Block())
        self.unset: dict[Machine, Value] = {}

    def function(self, function: Function) -> None:
        self.top.span = function.span
        self.block(function.body)
        function.body.ops[:0] = self.top.block.ops

    def placeholder(self, type_: Machine) -> Value:
        """What an unset cell holds: a zero, or a null."""
        if type_ not in self.unset:
            self.unset[type_] = self.null(type_)
        return self.unset[type_]

    def null(self, type_: Machine) -> Value:
        e = self.top
        if isinstance(type_, Scalar):
            return e.constant(0, type_)
        if isinstance(type_, ArrayRef):
            empty = e("array_zeros", *[e.integer(0)] * type_.rank, dtype=type_.dtype)
            return empty if empty.type == type_ else e("view_relax", empty)
        assert isinstance(type_, Box)
        return e("box_null", name=type_.name)

    # -------------------------------------------------------------------------------------------------- the walk

    def resolved(self, values: list[Value]) -> list[Value]:
        return [self.mapping.get(v, v) for v in values]

    def block(self, block: Block) -> None:
        ops, block.ops = block.ops, []
        e = Emitter(block)
        for op in ops:
            e.span = op.span
            op.operands = self.resolved(op.operands)
            self.op(e, op)
        block.results = self.resolved(block.results)

    def op(self, e: Emitter, op: Op) -> None:
        rows = self.rows
        if op.name in ("if", "for", "while"):
            self.structured(e, op)
        elif op.name == "table_rows" and (types := rows.cells(op.result)) is not None:
            self.content[op.result] = [self.placeholder(type_) for type_ in types]
        elif op.name.startswith("table_") and len(op.operands) > 1 and self.lone(op.operands[1]):
            self.access(e, op)
        elif op.name in ("eq", "ne") and any(self.lone(v) for v in op.operands):
            self.mapping[op.result] = e.boolean((op.operands[0] is op.operands[1]) == (op.name == "eq"))
        elif op.results and op.results[0] in rows.offset and self.lone(op.results[0]):
            pass
        else:
            e.block.ops.append(op)

    def lone(self, value: Value) -> bool:
        row, _ = self.rows.offset.get(value, (value, 0))
        return self.rows.cells(row) is not None

    def access(self, e: Emitter, op: Op) -> None:
        row, cell = self.rows.cell(op)
        content = self.content[row]
        old = content[cell]
        if op.results:
            self.mapping[op.result] = old
        if op.name in ("table_set", "table_swap"):
            content[cell] = op.operands[2]
        elif op.name == "table_inc":
            content[cell] = e("or_" if old.type == BOOL else "add", old, op.operands[2])

    # -------------------------------------------------------------------------------------------------- control

    def structured(self, e: Emitter, op: Op) -> None:
        """Cells take the places of merged rows, and go along where something inside writes them."""
        written = [(row, cell) for row, cell in self.rows.written.get(op, ()) if self.lone(row)]
        merged = {i: types for i, v in enumerate(op.results) if (types := self.rows.cells(v)) is not None}
        if op.name == "if":
            before = {row: list(self.content[row]) for row, _ in written}
            for block in op.blocks:
                self.content.update({row: list(content) for row, content in before.items()})
                self.block(block)
                block.results = self.expanded(block.results, 0, merged, written)
        else:
            fixed = 1 if op.name == "for" else 0
            op.operands = self.expanded(op.operands, fixed, merged, written)
            for block in op.blocks:
                block.params = self.received(block.params, fixed, merged, written)
                self.block(block)
            op.blocks[-1].results = self.expanded(op.blocks[-1].results, 0, merged, written)
        op.results = self.received(op.results, 0, merged, written)
        e.block.ops.append(op)

    def expanded(
        self, values: list[Value], fixed: int, merged: dict[int, list[Machine]], written: list[tuple[Value, int]]
    ) -> list[Value]:
        """The cells of merged rows for the rows, and at the end those that are written."""
        found = values[:fixed]
        for i, value in enumerate(values[fixed:]):
            if i not in merged:
                found.append(value)
            elif value in self.content:
                found += self.content[value]
            else:  # None
                found += [self.placeholder(type_) for type_ in merged[i]]
        return found + [self.content[row][cell] for row, cell in written]

    def received(
        self, values: list[Value], fixed: int, merged: dict[int, list[Machine]], written: list[tuple[Value, int]]
    ) -> list[Value]:
        """Fresh values for the cells of merged rows, and for those that are written."""
        found = values[:fixed]
        for i, value in enumerate(values[fixed:]):
            if i in merged:
                self.content[value] = [Value(type_, value.name) for type_ in merged[i]]
                found += self.content[value]
            else:
                found.append(value)
        for row, cell in written:
            old = self.content[row][cell]
            fresh = Value(old.type, old.name)
            self.content[row] = list(self.content[row])
            self.content[row][cell] = fresh
            found.append(fresh)
        return found
