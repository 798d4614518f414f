"""Tables whose arrays are replaced get columns for the owners of what they hold, so that what is replaced is freed.

    table T = (f64[:], i64)       ->      table T = (f64[:], i64, owner)        new rows own nothing: null

`ownership` fills and frees them.  A table that Python puts objects into, that is copied, or kept in a record, stays
as it is, and so does one whose rows keep the arrays that they are made with: their memory goes at the end.
"""

from __future__ import annotations

from collections.abc import Sequence

from pullback.analysis.cells import Cells, cell_writes
from pullback.ir.node import Op, Program, Value
from pullback.prims.data import OWNER
from pullback.types import ArrayRef, Machine, Table

__all__ = ["owner_column", "run"]


def run(program: Program) -> None:
    """Add the columns to the layouts."""
    for name in _replaced(program) - _shared(program):
        (columns,) = program.layouts[name]
        if OWNER not in columns:
            owners = [OWNER for column in columns if isinstance(column, ArrayRef)]
            program.layouts[name] = [(*columns, *owners)]


def owner_column(columns: Sequence[Machine], column: int) -> int | None:
    """The column of the owners of what an array column holds."""
    owners = [i for i, type_ in enumerate(columns) if type_ == OWNER]
    if not owners or not isinstance(columns[column], ArrayRef):
        return None
    return owners[sum(isinstance(type_, ArrayRef) for type_ in columns[:column])]


def _replaced(program: Program) -> set[str]:
    """Tables with a column of arrays that is written where rows are not new."""
    keeping = [f for f in program.functions.values() if any(map(_keeps_array, f.body.walk()))]
    facts = cell_writes(program) if keeping else {}
    replaced: set[str] = set()
    for function in keeping:
        first = Cells(function, facts).first
        stores = filter(_keeps_array, function.body.walk())
        replaced |= {_name(op.operands[0]) for op in stores if op not in first}
    return replaced


def _keeps_array(op: Op) -> bool:
    return op.name == "table_set" and isinstance(op.operands[2].type, ArrayRef)


def _shared(program: Program) -> set[str]:
    """Tables that somebody else fills or reads, or that have more than one set of rows."""
    found = {_name(v) for v in program.functions[program.entry].body.params if isinstance(v.type, Table)}
    for function in program.functions.values():
        for op in function.body.walk():
            if not _accesses(op):
                found |= {_name(v) for v in (*op.operands, *op.results) if isinstance(v.type, Table)}
    return found


def _accesses(op: Op) -> bool:
    return op.name in ("table", "call", "free") or (op.name.startswith("table_") and op.name != "table_copy")


def _name(table: Value) -> str:
    assert isinstance(table.type, Table)
    return table.type.name
