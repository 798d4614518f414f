"""Gradients by arrays in given rows, of a function that puts others there.

The twin of a table refers to the shadow of the array that a row holds now.  The gradient belongs to the array that came
in, so its shadow is remembered at the start and takes its place again at the end:

    f(t)      table_set{0}(t, r, b)
    ->
    forward   for r in rows: s = zeros like table_get{0}(t, r);  table_set{0}(t', r, s);  buffer_put(first, r, s)
    reverse   ...
              for r in rows: table_set{0}(t', r, buffer_get(first, r))
"""

from __future__ import annotations

from dataclasses import dataclass

from pullback.ad.shadows import ShadowTypes, array_sizes, coerce, zero_array
from pullback.analysis.alias import Aliases
from pullback.ir.node import Block, Value
from pullback.prims.base import Emitter, get
from pullback.types import I64, ArrayRef, Table, is_float

__all__ = ["First", "put_back", "remember"]


@dataclass(frozen=True, slots=True)
class First:
    """The shadows of the arrays that a column of a table held at first: column of the twin, rows, a buffer of them."""

    column: int
    rows: Value
    shadows: Value


def remember(
    e: Emitter, table: Value, twin: Value, types: ShadowTypes, aliases: Aliases, settled: bool
) -> list[First]:  # fmt: skip
    """Give each array in a column that is rewritten a shadow of zeros, and remember it; `settled`: it has one."""
    found: list[First] = []
    for column in types.columns(table.type):
        held = types.column_type(table, column)
        if isinstance(held, ArrayRef) and is_float(held) and _rewritten(aliases, table, column):
            rows = e("table_length", table)
            first = First(types.column(table, column), rows, e("buffer", rows, element=held))
            _fill(e, table, column, twin, first, held, settled)
            found.append(first)
    return found


def _rewritten(aliases: Aliases, table: Value, column: int) -> bool:
    assert isinstance(table.type, Table)
    writes = aliases.cells.writes
    return (table, column) in writes or (table.type.name, column) in writes


def _fill(
    e: Emitter, table: Value, column: int, twin: Value, first: First, held: ArrayRef, settled: bool
) -> None:  # fmt: skip
    body = Emitter(Block([Value(I64, "r")]), e.span)
    row = body.block.params[0]
    if settled:
        shadow = body("table_get", twin, row, column=first.column, type=held)
    else:
        array = body("table_get", table, row, column=column, type=held)
        shadow = coerce(body, zero_array(body, held, array_sizes(body, array)), held)
        body.op("table_set", twin, row, shadow, column=first.column)
    body.op("buffer_put", first.shadows, row, shadow)
    e.append(get("for"), [first.rows], blocks=[body.block], types=[])


def put_back(e: Emitter, twin: Value, first: First) -> None:
    """The shadows of the arrays that came in stand in the twin again."""
    body = Emitter(Block([Value(I64, "r")]), e.span)
    row = body.block.params[0]
    body.op("table_set", twin, row, body("buffer_get", first.shadows, row), column=first.column)
    e.append(get("for"), [first.rows], blocks=[body.block], types=[])
