"""Twins of tables: the tables of shadows or tangents, with the same rows.

    t' = twin of t                    t' = table{t'}();  table_rows(t', table_length(t))
    shadow of table_get{1}(t, r)      s = table_get{1}(t', r), and zeros take its place there if it is null

Null stands where the row is older than the twin, or holds what carries no derivative: its shadow is a zero that nobody
asks for.  Where arrays are overwritten, the shadow of an array that came in with an old row cannot be told from that of
another name of the same memory, which is an error while running.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from pullback.ad.shadows import ShadowTypes, array_sizes, coerce, new_table, zero_array
from pullback.analysis.activity import Activity
from pullback.analysis.alias import Aliases
from pullback.analysis.cells import Place
from pullback.diagnostic import CompileError, Diagnostic
from pullback.ir.node import Block, Value
from pullback.prims.base import Emitter, get
from pullback.types import ArrayRef, Box, Table

__all__ = [
    "COMPARED", "Item", "active_cells", "is_null", "make_twin", "only_measured", "sought", "stored_outputs",
    "with_cells",
]  # fmt: skip

COMPARED = 256  # given rows whose arrays are compared with each other: their number squared is what it takes
_MEASURES = ("array_size", "array_overlap", "array_same")
Item = Value | tuple[Value, int]  # a value, or a column of a table
_UNKNOWN = "cannot differentiate: an array that an object held before is changed in place"


def make_twin(e: Emitter, table: Value, types: ShadowTypes) -> Value:
    """A twin with as many rows of zeros as the table has now."""
    return new_table(e, types.machine(table.type), e("table_length", table))


def sought(
    e: Emitter, value: Value, twin: Value, row: Value, attrs: Mapping[str, object], *, written: bool,
    settled: bool = False,
) -> Value:  # fmt: skip
    """The shadow of what was found in a table.  `written`: it may be overwritten; `settled`: see `given_rows`."""
    if not isinstance(value.type, ArrayRef):
        title = "the derivative of a function that finds such a closure in an object is not supported"
        raise CompileError(Diagnostic(title, e.span, f"this is a {value.type}"))
    found = e("table_get", twin, row, **attrs)
    none = is_null(e, found, value, twin, attrs)
    if written or settled:
        unknown = none if written else e("and_", none, e("lt", row, e.integer(COMPARED)))
        e.op("check", e("not_", unknown), exception="ValueError", message=_UNKNOWN)
    if written:
        return found
    make, keep = Emitter(Block(), e.span), Block(results=[found])
    made = coerce(make, zero_array(make, value.type, array_sizes(make, value)), found.type)
    make.op("table_set", twin, row, made, column=attrs["column"])
    make.block.results = [made]
    assert found.type is not None
    return e.append(get("if"), [none], blocks=[make.block, keep], types=[found.type]).result


def is_null(e: Emitter, found: Value, value: Value, twin: Value, attrs: Mapping[str, object]) -> Value:
    """A bool: is what a twin holds not the shadow of the value."""
    none = e.boolean(False)
    assert isinstance(value.type, ArrayRef)
    for axis in range(value.type.rank):
        differs = e("ne", e("array_size", found, axis=axis), e("array_size", value, axis=axis))
        none = e("or_", none, differs)
    if value.type.rank:
        return none
    null = e("table_get", new_table(e, twin.type, e.integer(1)), e.integer(0), **attrs)
    return e("and_", e("array_same", found, null), e("not_", e("array_same", value, null)))


def only_measured(body: Block) -> frozenset[Value]:
    """The arrays found in tables of which nothing but their sizes, and where they lie, is asked."""
    found = {op.result for op in body.walk() if op.name == "table_get" and isinstance(op.result.type, ArrayRef)}
    if found:
        found -= {v for op in body.walk() if op.name not in _MEASURES for v in op.operands}
        found -= {v for block in (body, *(b for op in body.walk() for b in op.blocks)) for v in block.results}
    return frozenset(found)


# ------------------------------------------------------------------------------------------- what crosses a call


def with_cells(values: Iterable[Value], params: Sequence[Value], cells: Collection[Place] | None) -> list[Item]:
    """The values, with their active columns (`cells`, by number of the parameter) in the place of tables."""
    found: list[Item] = []
    for value in values:
        if cells is None or not isinstance(value.type, Table):
            found.append(value)
        else:
            found += [(value, column) for i, column in sorted(cells) if params[i] is value]
    return found


def active_cells(activity: Activity, operands: Sequence[Value], types: ShadowTypes) -> frozenset[Place]:
    """The columns of tables among the operands of a call that carry derivative."""
    return frozenset(
        (i, column) for i, value in enumerate(operands) if isinstance(value.type, Table)
        for column in range(len(types.program.layouts[value.type.name][0])) if activity.active_cell(value, column)
    )  # fmt: skip


def stored_outputs(inputs: Iterable[Item], aliases: Aliases) -> list[Item]:
    """Among the inputs (see `with_cells`): memory of the caller that the function may write."""
    found: list[Item] = []
    for item in inputs:
        if isinstance(item, tuple):  # what is not active for the caller is nothing that it waits for
            written = item in aliases.cells.stored or aliases.written(item[0])
        elif isinstance(item.type, Table):
            found += [(item, column) for column in sorted(c for key, c in aliases.cells.stored if key is item)]
            written = aliases.written(item)
        else:
            written = isinstance(item.type, Box) or aliases.written(item)
        found += [item] * written
    return found
