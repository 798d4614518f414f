"""What was just stored in a table, or read from it, is not read again.

    table_set{0} t, r, x
    y = table_get{0} t, r         y is x
    table_set{0} t, s, z          s may be r: from here on the cell of r is not known, unless s is a new row
    w = table_get{0} t, r

One walk in order; what is known inside a branch or a loop is forgotten at its end, and what is written in there is not
known after it (of a loop: nor inside).
"""

from __future__ import annotations

from pullback.analysis.cells import TABLE_WRITES, Cell, Cells, CellWrites, cell_writes
from pullback.analysis.effects import CALLS
from pullback.ir.node import Block, Function, Op, Program, Value

__all__ = ["run"]

Known = dict[tuple[Cell, Value], Value]


def run(function: Function, program: Program) -> None:
    """Replace reads of cells whose content is known."""
    if any(op.name in ("table_get", "table_swap") for op in function.body.walk()):
        called = [str(op.attrs["callee"]) for op in function.body.walk() if "callee" in op.attrs]
        _Forwarding(function, cell_writes(program, called)).block(function.body, {})


class _Forwarding:
    def __init__(self, function: Function, callees: dict[str, CellWrites]) -> None:
        self.callees = callees
        self.cells = Cells(function, callees)
        self.mapping: dict[Value, Value] = {}

    def block(self, block: Block, known: Known) -> None:
        kept: list[Op] = []
        for op in block.ops:
            if self.mapping:
                op.operands = [self.mapping.get(v, v) for v in op.operands]
            if op.name == "table_get" and self.found(op, known):
                continue
            self.effect(op, known)
            kept.append(op)
        block.ops = kept
        block.results = [self.mapping.get(v, v) for v in block.results]

    def found(self, op: Op, known: Known) -> bool:
        """Is the content known already; it is from here on."""
        key = (self.cells.cell(op), op.operands[1])
        if isinstance(key[0][0], str):
            return False
        if key in known:
            self.mapping[op.result] = known[key]
            return True
        known[key] = op.result
        return False

    def effect(self, op: Op, known: Known) -> None:
        if op.name in TABLE_WRITES:
            cell = self.cells.cell(op)
            if op not in self.cells.first:
                self.forget({cell}, known)
            if op.name != "table_inc" and not isinstance(cell[0], str):
                known[cell, op.operands[1]] = op.operands[2]
        elif op.name in CALLS:
            self.forget(self.written(op), known)
        elif op.blocks:
            written = self.written(op)
            if op.name != "if":
                self.forget(written, known)
            for inner in op.blocks:
                self.block(inner, dict(known))
            self.forget(written, known)

    def written(self, op: Op) -> set[Cell]:
        """The cells that an op, or one inside it, may rewrite."""
        found: set[Cell] = set()
        for inner in (op, *(o for block in op.blocks for o in block.walk())):
            if inner.name in TABLE_WRITES and inner not in self.cells.first:
                found.add(self.cells.cell(inner))
            elif "callee" in inner.attrs:
                known = self.callees.get(str(inner.attrs["callee"]))
                found.update(self.cells.called(inner, known.rewritten) if known is not None else ())
        return found

    def forget(self, cells: set[Cell], known: Known) -> None:
        if cells:
            for key in [key for key in known if key[0] in cells]:
                del known[key]
