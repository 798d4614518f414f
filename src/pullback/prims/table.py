"""Tables: growable stores of rows, in which objects, lists, cells and dicts live.

    t = table{name}()                      a new table without rows; layout Program.layouts[name][0], one type a column
    r = table_rows(t, n)                   n new rows at the end, all columns zero or null; the number of the first
                                           {numbered}: they may also be reached by numbers that were counted
    n = table_length(t)                    how many rows there are
    v = table_get{column, type}(t, r)      what stands in a column of row r, of that machine type
    table_set{column}(t, r, v)             v takes its place
    old = table_swap{column}(t, r, v)      the same; the result is what stood there before
    table_inc{column}(t, r, v)             v is added to it
    u = table_copy(t)                      a new table with the same rows as t has now
    table_cut(t, n)                        only the first n rows stay; nobody knows the numbers of the others
    m = record_room(); record_cut(m)       records that were made since are gone

A reference to an object is the number of a row (i64), so identity is equality of integers.  Until the last passes rows
are never removed, so the shadow or tangent of a table is a table with the same rows.  Row numbers are in range (checked
before); a placeholder that is never read on a path that is reached may be any number.  Tables themselves are not merged
or compared: a function makes them, gets them as parameters and passes them on.
"""

from __future__ import annotations

from collections.abc import Sequence

from pullback.prims.base import Attrs, Prim, register
from pullback.types import I64, Machine, Scalar, Table

__all__ = ["PRIMS"]


def _table(operands: Sequence[Machine], attrs: Attrs) -> tuple[Machine, ...]:
    if operands:
        raise TypeError("a new table takes no operands")
    return (Table(str(attrs["name"])),)


def _copy(operands: Sequence[Machine], attrs: Attrs) -> tuple[Machine, ...]:
    if len(operands) != 1 or not isinstance(operands[0], Table):
        raise TypeError("a table is needed")
    return (operands[0],)


def _number(operands: Sequence[Machine], attrs: Attrs) -> tuple[Machine, ...]:
    if not operands or not isinstance(operands[0], Table) or list(operands[1:]) not in ([], [I64]):
        raise TypeError("a table is needed, and perhaps an int")
    return (I64,)


def _cell(operands: Sequence[Machine], count: int) -> None:
    """Guard: a table, the number of a row, and what else there is."""
    if len(operands) != count or not isinstance(operands[0], Table) or operands[1] != I64:
        raise TypeError(f"a table, the number of a row and {count - 2} values are needed")


def _get(operands: Sequence[Machine], attrs: Attrs) -> tuple[Machine, ...]:
    _cell(operands, 2)
    type_ = attrs["type"]
    assert isinstance(type_, Machine)
    return (type_,)


def _room(operands: Sequence[Machine], attrs: Attrs) -> tuple[Machine, ...]:
    return () if operands else (I64,)


def _cut(operands: Sequence[Machine], attrs: Attrs) -> tuple[Machine, ...]:
    _number(operands, attrs)
    return ()


def _set(operands: Sequence[Machine], attrs: Attrs) -> tuple[Machine, ...]:
    _cell(operands, 3)
    return ()


def _swap(operands: Sequence[Machine], attrs: Attrs) -> tuple[Machine, ...]:
    _cell(operands, 3)
    return (operands[2],)


def _inc(operands: Sequence[Machine], attrs: Attrs) -> tuple[Machine, ...]:
    _cell(operands, 3)
    if not isinstance(operands[2], Scalar):
        raise TypeError("only numbers are accumulated")
    return ()


_STRUCTURAL = "structural"
_READ, _WRITE, _CHANGE = frozenset({"read"}), frozenset({"write"}), frozenset({"read", "write"})

PRIMS = tuple(
    register(p)
    for p in (
        Prim(name="table", doc="a new table", infer=_table, derivative=_STRUCTURAL, effects=frozenset({"allocate"})),
        Prim(name="table_rows", doc="new rows", infer=_number, derivative=_STRUCTURAL, effects=_CHANGE),
        Prim(name="table_length", doc="the number of rows", infer=_number, derivative=_STRUCTURAL, effects=_READ),
        Prim(name="table_get", doc="a column of a row", infer=_get, derivative=_STRUCTURAL, effects=_READ),
        Prim(name="table_set", doc="replace it", infer=_set, derivative=_STRUCTURAL, effects=_WRITE),
        Prim(name="table_swap", doc="replace it, yielding the old one", infer=_swap, derivative=_STRUCTURAL,
             effects=_CHANGE),
        Prim(name="table_copy", doc="a new table with the same rows", infer=_copy, derivative=_STRUCTURAL,
             effects=frozenset({"read", "allocate"})),
        Prim(name="table_cut", doc="take rows away", infer=_cut, derivative=_STRUCTURAL, effects=_CHANGE),
        Prim(name="record_room", doc="where the next record goes", infer=_room, derivative=_STRUCTURAL, effects=_READ),
        Prim(name="record_cut", doc="take records away", infer=_room, derivative=_STRUCTURAL, effects=_CHANGE),
        Prim(name="table_inc", doc="add to it", infer=_inc, derivative=_STRUCTURAL, effects=_CHANGE),
    )
)  # fmt: skip
