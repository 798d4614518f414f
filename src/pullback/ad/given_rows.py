"""Shadows of the arrays that the rows of a table hold when a derivative begins.

    for r in rows:  a = table_get{0}(t, r)
                    table_set{0}(t', r, the shadow of the parameter, or of the row before, that is the same array;
                                        else zeros like a)

One memory has one shadow, however it is reached: through two rows, or through a row and a parameter.  Where arrays are
overwritten, an array that shares memory with another one without being the same has no shadow: null stays in the twin,
and to ask for it is an error while running (`twins.sought`).  Rows beyond those that are compared have null, too: there
it is an error only where the array may be overwritten.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pullback.ad.shadows import ShadowTypes, array_sizes, coerce, zero_array
from pullback.ad.twins import COMPARED, is_null
from pullback.ir.node import Block, Value
from pullback.prims.base import Emitter, get
from pullback.types import BOOL, I64, ArrayRef, Table, is_float

__all__ = ["settle"]


def settle(
    e: Emitter, tables: Sequence[Value], params: Sequence[Value], shadows: Mapping[Value, Value], types: ShadowTypes
) -> None:  # fmt: skip
    """Give the rows of the tables their shadows.

    `params`: all that the function is given; `shadows`: what is known.
    """
    columns = {v: _columns(v, types) for v in params if isinstance(v.type, Table)}
    arrays = [v for v in params if isinstance(v.type, ArrayRef) and is_float(v.type)]
    for table in tables:
        for column, held in columns[table]:
            _Column(table, column, held, tables, columns, arrays, shadows, types).fill(e)


def _columns(table: Value, types: ShadowTypes) -> list[tuple[int, ArrayRef]]:
    held = ((column, types.column_type(table, column)) for column in types.columns(table.type))
    return [(column, type_) for column, type_ in held if isinstance(type_, ArrayRef) and is_float(type_)]


class _Column:
    """One column of arrays."""

    def __init__(
        self, table: Value, column: int, held: ArrayRef, tables: Sequence[Value],
        columns: Mapping[Value, list[tuple[int, ArrayRef]]], arrays: Sequence[Value], shadows: Mapping[Value, Value],
        types: ShadowTypes,
    ) -> None:  # fmt: skip
        self.table, self.column, self.held, self.tables = table, column, held, tables
        self.columns, self.arrays, self.shadows, self.types = columns, arrays, shadows, types
        self.twin = shadows[table]

    def fill(self, e: Emitter) -> None:
        body = Emitter(Block([Value(I64, "r")]), e.span)
        self.row = body.block.params[0]
        array = body("table_get", self.table, self.row, column=self.column, type=self.held)
        settled = [body.boolean(False), body("ge", self.row, body.integer(COMPARED))]  # has it one; can it have none
        for param in self.arrays:
            settled = self.against(body, array, param, self.shadows.get(param), settled)
        for other, columns in self.columns.items():
            for column, held in columns:
                settled = self.against_rows(body, array, other, column, held, settled)
        free = body("not_", body("or_", *settled))
        new = Emitter(Block(), e.span)
        self.put(new, coerce(new, zero_array(new, self.held, array_sizes(new, array)), self.held))
        body.append(get("if"), [free], blocks=[new.block, Block()], types=[])
        e.append(get("for"), [e("table_length", self.table)], blocks=[body.block], types=[])

    def put(self, e: Emitter, shadow: Value) -> None:
        e.op("table_set", self.twin, self.row, shadow, column=self.types.column(self.table, self.column))

    def against(
        self, e: Emitter, array: Value, other: Value, shadow: Value | None, settled: Sequence[Value]
    ) -> list[Value]:  # fmt: skip
        """Compare with one array that is at hand, and with its shadow, if it has one."""
        done, lost = settled
        meet = e("array_overlap", array, other)
        if shadow is None or other.type != self.held or not self.held.contiguous:
            return [done, e("or_", lost, meet)]
        same = e("array_same", array, other)
        for one, two in zip(array_sizes(e, array), array_sizes(e, other), strict=True):
            same = e("and_", same, e("eq", one, two))
        same = e("and_", same, meet)  # empty arrays share an address at most
        take = Emitter(Block(), e.span)
        self.put(take, coerce(take, shadow, self.held))
        fresh = e("and_", same, e("not_", e("or_", done, lost)))
        e.append(get("if"), [fresh], blocks=[take.block, Block()], types=[])
        return [e("or_", done, fresh), e("or_", lost, e("and_", meet, e("not_", same)))]

    def against_rows(
        self, e: Emitter, array: Value, other: Value, column: int, held: ArrayRef, settled: Sequence[Value]
    ) -> list[Value]:  # fmt: skip
        """Compare with the rows of a column: of this one with those before, of one whose turn is over with all."""
        length = e("table_length", other)
        rows = self.row if (other, column) == (self.table, self.column) else length
        inner = Emitter(Block([Value(I64, "q"), Value(BOOL), Value(BOOL)]), e.span)
        row, done, lost = inner.block.params
        found = inner("table_get", other, row, column=column, type=held)
        twin = self.shadows.get(other)
        if not self.comes_before(other, column) or twin is None:
            # Where shadows are still to come, that array will find this one; of what has none there is none to share.
            waits = other in self.tables
            inner.block.results = [done, lost] if waits else self.against(inner, array, found, None, [done, lost])
        else:
            attrs = {"column": self.types.column(other, column), "type": held}
            shadow = inner("table_get", twin, row, **attrs)
            none = is_null(inner, shadow, found, twin, attrs)
            lost = inner("or_", lost, inner("and_", none, inner("array_overlap", array, found)))
            inner.block.results = self.against(inner, array, found, shadow, [done, lost])
        few = e("select", e("ge", self.row, e.integer(COMPARED)), e.integer(0), rows)
        loop = e.append(get("for"), [few, *settled], blocks=[inner.block], types=[BOOL, BOOL])
        return list(loop.results)

    def comes_before(self, other: Value, column: int) -> bool:
        """Have the rows of that column their shadows already (those above, of this column)."""
        order = [(table, c) for table, columns in self.columns.items() for c, _ in columns]
        return order.index((other, column)) <= order.index((self.table, self.column))
