"""Tables in memory: a header {ptr data, i64 capacity, i64 length} and, apart from it, the rows.

    r = table_rows(t, n)     ->     length + n <= capacity, else pb.table_grow (twice the room); length += n
    v = table_get{1}(t, r)   ->     load of data + r * size of a row + offset of column 1

A row is a record of the pieces of its columns.  Rows past the length are zero, so new ones need no writing.  The header
lies on the stack of the function that makes the table, unless a record keeps it; the rows belong to the context's list,
and go with it where nothing frees them before.  To LLVM every column is memory of its own.
"""

from __future__ import annotations

from pullback.codegen import abi
from pullback.codegen.records import add_to, free_held, load_pieces, store_pieces
from pullback.codegen.writer import HEADER, LIKELY, FunctionWriter, machine
from pullback.diagnostic import InternalError
from pullback.ir.node import Block, Op, Value
from pullback.types import Scalar, Table

__all__ = ["RULES", "kept_tables"]

_CAPACITY, _LENGTH, _SIZE = 8, 16, 24


def _name(table: Value) -> str:
    if not isinstance(table.type, Table):
        raise InternalError(f"{table!r} is not a table")
    return table.type.name


def _row(w: FunctionWriter, table: Value) -> abi.Record:
    """The layout of a row."""
    try:
        (columns,) = w.module.program.layouts[_name(table)]
    except (KeyError, ValueError):
        raise InternalError(f"table {_name(table)} has no layout") from None
    return w.module.record(columns)


_PASSING = frozenset({
    "call", "free", "table_copy", "table_cut", "table_get", "table_inc", "table_length", "table_rows", "table_set",
    "table_swap",
})  # fmt: skip


def kept_tables(body: Block) -> set[Value]:
    """Tables that something besides accesses and calls may refer to."""
    others = (op for op in body.walk() if op.prim.name not in _PASSING)
    return {v for op in others for v in op.operands if isinstance(v.type, Table)}


def _header(w: FunctionWriter, table: Value) -> str:
    return w.allocate(str(_SIZE)) if table in w.kept else w.stack(f"[{_SIZE} x i8], align 8")


def _table(w: FunctionWriter, op: Op) -> None:
    header = _header(w, op.result)
    w.do(f"store ptr null, ptr {header}{HEADER}")
    for place in (_CAPACITY, _LENGTH):
        w.do(f"store i64 0, ptr {w.offset(header, place)}{HEADER}")
    w.pieces[op.result] = (header,)


def _copy(w: FunctionWriter, op: Op) -> None:
    """Room for one row at least, so that there is memory to copy to."""
    old, size = w.only(op.operands[0]), _row(w, op.operands[0]).size
    header, length = _header(w, op.result), _load(w, old, _LENGTH)
    used = w.set(f"mul i64 {length}, {size}")
    data = w.allocate(w.set(f"add i64 {used}, {size}"), zeroed=True)
    w.module.declare("@llvm.memcpy.p0.p0.i64", "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)")
    rows = w.set(f"load ptr, ptr {old}{HEADER}")
    w.do(f"call void @llvm.memcpy.p0.p0.i64(ptr {data}, ptr {rows}, i64 {used}, i1 false)")
    w.do(f"store ptr {data}, ptr {header}{HEADER}")
    for place in (_CAPACITY, _LENGTH):
        w.do(f"store i64 {length}, ptr {w.offset(header, place)}{HEADER}")
    w.pieces[op.result] = (header,)


def _length(w: FunctionWriter, op: Op) -> None:
    w.pieces[op.result] = (_load(w, w.only(op.operands[0]), _LENGTH),)


def _load(w: FunctionWriter, header: str, place: int) -> str:
    return w.set(f"load i64, ptr {w.offset(header, place)}{HEADER}")


def _rows(w: FunctionWriter, op: Op) -> None:
    table, count = op.operands
    header, size = w.only(table), _row(w, table).size
    first = _load(w, header, _LENGTH)
    length = w.set(f"add i64 {first}, {w.only(count)}")
    room = w.set(f"icmp ule i64 {length}, {_load(w, header, _CAPACITY)}")
    full, after = w.label(), w.label()
    w.branch(room, after, full, LIKELY)
    w.begin(full)
    helper = w.module.helper("pb.table_grow")
    status = w.set(f"call i32 {helper}(ptr %context, ptr {header}, i64 {length}, i64 {size})")
    w.failures.append((status, full))
    w.branch(w.set(f"icmp eq i32 {status}, 0"), after, "fail", LIKELY)
    w.begin(after)
    w.do(f"store i64 {length}, ptr {w.offset(header, _LENGTH)}{HEADER}")
    w.pieces[op.result] = (first,)


def _cut(w: FunctionWriter, op: Op) -> None:
    """Rows past the length are zero."""
    table, rows = op.operands
    header, size = w.only(table), _row(w, table).size
    assert isinstance(table.type, Table)
    free_held(w, table.type, header, w.only(rows))
    gone = w.set(f"sub i64 {_load(w, header, _LENGTH)}, {w.only(rows)}")
    some, after = w.label(), w.label()
    w.branch(w.set(f"icmp sgt i64 {gone}, 0"), some, after)
    w.begin(some)
    data = w.set(f"load ptr, ptr {header}{HEADER}")
    first = w.set(f"getelementptr inbounds [{size} x i8], ptr {data}, i64 {w.only(rows)}")
    w.module.declare("@llvm.memset.p0.i64", "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)")
    w.do(f"call void @llvm.memset.p0.i64(ptr {first}, i8 0, i64 {w.set(f'mul i64 {gone}, {size}')}, i1 false)")
    w.do(f"store i64 {w.only(rows)}, ptr {w.offset(header, _LENGTH)}{HEADER}")
    w.jump(after)
    w.begin(after)


def _place(w: FunctionWriter, op: Op) -> tuple[str, tuple[int, ...], str]:
    """The address of a row, where the pieces of the column lie in it, and the mark of their memory."""
    table, row = op.operands[:2]
    column, layout = int(str(op.attrs["column"])), _row(w, table)
    data = w.set(f"load ptr, ptr {w.only(table)}{HEADER}")
    address = w.set(f"getelementptr inbounds [{layout.size} x i8], ptr {data}, i64 {w.only(row)}")
    return address, layout.offsets[column], w.module.memory(f"{_name(table)}.{column}")


def _get(w: FunctionWriter, op: Op) -> None:
    address, places, kind = _place(w, op)
    w.pieces[op.result] = tuple(load_pieces(w, machine(op.result), places, address, kind))


def _set(w: FunctionWriter, op: Op) -> None:
    address, places, kind = _place(w, op)
    store_pieces(w, op.operands[2], places, address, kind)


def _swap(w: FunctionWriter, op: Op) -> None:
    _get(w, op)
    _set(w, op)


def _inc(w: FunctionWriter, op: Op) -> None:
    address, (place,), kind = _place(w, op)
    value = op.operands[2]
    if not isinstance(value.type, Scalar):
        raise InternalError(f"table_inc of {value.type}")
    add_to(w, value.type.dtype, w.offset(address, place), w.only(value), kind)


RULES = {
    "table": _table,
    "table_copy": _copy,
    "table_cut": _cut,
    "table_length": _length,
    "table_rows": _rows,
    "table_get": _get,
    "table_set": _set,
    "table_swap": _swap,
    "table_inc": _inc,
}
