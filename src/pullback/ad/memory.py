"""Reverse rules of memory: every op has its adjoint in the same small set.

    v = array_get a, i         array_inc s, i, cv               (s: the accumulator of a)
    array_inc a, i, v          cv += array_get s, i
    old = array_swap a, i, v   cv += array_swap s, i, cold
    c = matmul a, b            matmul_inc sa, sc, b';  matmul_inc sb, a', sc
    b = box v, a               cv += slot_get b', 0;  sa += slot_get b', 1
    v, a = unbox b             slot_inc b', 0, cv               (what is fetched shares its shadow with the record's)
    buffer_put f, i, v         cv += buffer_get s, i
    v = buffer_get f, i        buffer_inc s, i, cv
    v = table_get t, r         table_inc t', r, cv
    table_set t, r, v          cv += table_swap t', r, 0        (of a new row: table_get t', r)
    table_inc t, r, v          cv += table_get t', r
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from pullback.ad.elementwise import pull_elementwise
from pullback.ad.primal import slot_attrs, slot_place
from pullback.ir.node import Op, Value
from pullback.types import Machine, Scalar

if TYPE_CHECKING:
    from pullback.ad.reverse import Reverse

__all__ = ["RULES"]


def _read(reverse: Reverse, name: str, *operands: Value, **attrs: object) -> Value:
    """A cotangent from an accumulator."""
    return reverse.wild.note(reverse.e(name, *operands, **attrs), reverse.wild.memory)


def _give(reverse: Reverse, value: Value, part: Value) -> None:
    """A cotangent read from a shadow: a number, or an accumulator."""
    if isinstance(value.type, Scalar):
        reverse.add(value, part)
    else:
        reverse.take(value, part)


# ------------------------------------------------------------------------------------------------------------- arrays


def _array_get(reverse: Reverse, op: Op) -> None:
    c = reverse.cotangent(op.result)
    if c is not None and reverse.primal.active(op.operands[0]) and not reverse.defer(op, c):
        reverse.e.op("array_inc", reverse.shadow(op.operands[0]), *op.operands[1:], c)


def _array_inc(reverse: Reverse, op: Op) -> None:
    array, *indices, value = op.operands
    if reverse.primal.active(value) and reverse.existing(array) is not None:
        reverse.add(value, _read(reverse, "array_get", reverse.shadow(array), *indices))


def _array_swap(reverse: Reverse, op: Op) -> None:
    """What was written takes its cotangent out; what stood there before puts its own in."""
    array, *indices, value = op.operands
    old = reverse.cotangent(op.result)
    if reverse.primal.active(array) and (old is not None or reverse.existing(array) is not None):
        before = reverse.zero_or(old, op.result)
        reverse.add(value, _read(reverse, "array_swap", reverse.shadow(array), *indices, before))


def _matmul(reverse: Reverse, op: Op) -> None:
    shadow = reverse.existing(op.result)
    if shadow is not None:
        _product(reverse, op, shadow, *op.operands)


def _matmul_inc(reverse: Reverse, op: Op) -> None:
    target, a, b = op.operands
    shadow = reverse.existing(target)
    if shadow is not None:
        _product(reverse, op, shadow, a, b)


def _product(reverse: Reverse, op: Op, c: Value, a: Value, b: Value) -> None:
    """Of c = a @ b: a gets c @ b', b gets a' @ c."""
    primal, e, swap = reverse.primal, reverse.e, (1, 0)
    if primal.active(a):
        e.op("matmul_inc", reverse.shadow(a), c, e("view_transpose", primal.settled_copy(b, op), perm=swap))
    if primal.active(b):
        e.op("matmul_inc", reverse.shadow(b), e("view_transpose", primal.settled_copy(a, op), perm=swap), c)


# ---------------------------------------------------------------------------------------------------- records, buffers


def _box(reverse: Reverse, op: Op) -> None:
    primal = reverse.primal
    if not primal.mirrored(op.result):
        return
    places = reverse.types.positions(str(op.attrs["name"]), int(str(op.attrs["variant"])))
    for value, place in zip(op.operands, places, strict=True):
        if place is not None and primal.active(value) and not primal.mirrored(value):
            attrs = slot_attrs(op, place) | {"type": reverse.types.machine(value.type)}
            _give(reverse, value, _read(reverse, "slot_get", primal.mirrors[op.result], **attrs))


def _unbox(reverse: Reverse, op: Op) -> None:
    record = op.operands[0]
    if not reverse.primal.mirrored(record):
        return
    places = reverse.types.positions(str(op.attrs["name"]), int(str(op.attrs["variant"])))
    for result, place in zip(op.results, places, strict=True):
        c = reverse.cotangent(result)
        if c is not None and place is not None:
            reverse.e.op("slot_inc", reverse.primal.mirrors[record], c, **slot_attrs(op, place))


def _slot_get(reverse: Reverse, op: Op) -> None:
    c = reverse.cotangent(op.result)
    if c is not None:
        place = slot_place(reverse.types, op)
        reverse.e.op("slot_inc", reverse.primal.mirrors[op.operands[0]], c, **slot_attrs(op, place))


def _slot_inc(reverse: Reverse, op: Op) -> None:
    record, value = op.operands
    if reverse.primal.active(value) and reverse.primal.active(record):
        attrs = slot_attrs(op, slot_place(reverse.types, op)) | {"type": value.type}
        reverse.add(value, _read(reverse, "slot_get", reverse.primal.mirrors[record], **attrs))


def _buffer_get(reverse: Reverse, op: Op) -> None:
    c = reverse.cotangent(op.result)
    if c is not None and reverse.primal.active(op.operands[0]):
        reverse.e.op("buffer_inc", reverse.shadow(op.operands[0]), op.operands[1], c)


def _buffer_put(reverse: Reverse, op: Op) -> None:
    buffer, index, value = op.operands
    primal = reverse.primal
    if not primal.active(value) or primal.mirrored(value):
        return
    if primal.mirrored(buffer):
        _give(reverse, value, _read(reverse, "buffer_get", primal.mirrors[buffer], index))
    elif isinstance(value.type, Scalar) and reverse.existing(buffer) is not None:
        reverse.add(value, _read(reverse, "buffer_get", reverse.shadow(buffer), index))


# ------------------------------------------------------------------------------------------------------------- tables


def _table_get(reverse: Reverse, op: Op) -> None:
    """What is fetched by reference shares its shadow with the cell."""
    table, row = op.operands
    c = reverse.cotangent(op.result)
    if c is not None and reverse.primal.active_cell(op):
        reverse.e.op("table_inc", reverse.shadow(table), row, c, **reverse.primal.cell_attrs(op))


def _table_set(reverse: Reverse, op: Op) -> None:
    """What was written takes its cotangent out; nobody asks again for that of a new row."""
    primal, (table, row, value) = reverse.primal, op.operands
    if not primal.active_cell(op):
        return
    if not isinstance(value.type, Scalar):
        if op in primal.kept:
            reverse.take(value, primal.kept[op])
    elif reverse.existing(table) is not None:
        attrs, shadow = primal.cell_attrs(op), reverse.shadow(table)
        if op in primal.aliases.cells.first:
            if primal.active(value):
                reverse.add(value, _read(reverse, "table_get", shadow, row, **attrs, type=_type(value)))
        else:
            zero = reverse.zero_or(None, value)
            reverse.add(value, _read(reverse, "table_swap", shadow, row, zero, **attrs))


def _table_swap(reverse: Reverse, op: Op) -> None:
    table, row, value = op.operands
    old = reverse.cotangent(op.result)
    if reverse.primal.active_cell(op) and (old is not None or reverse.existing(table) is not None):
        before, attrs = reverse.zero_or(old, op.result), reverse.primal.cell_attrs(op)
        reverse.add(value, _read(reverse, "table_swap", reverse.shadow(table), row, before, **attrs))


def _table_inc(reverse: Reverse, op: Op) -> None:
    table, row, value = op.operands
    primal = reverse.primal
    if primal.active(value) and primal.active_cell(op) and reverse.existing(table) is not None:
        attrs = primal.cell_attrs(op) | {"type": _type(value)}
        reverse.add(value, _read(reverse, "table_get", reverse.shadow(table), row, **attrs))


def _type(value: Value) -> Machine:
    assert value.type is not None
    return value.type


RULES: dict[str, Callable[[Reverse, Op], None]] = {
    "array_get": _array_get, "array_inc": _array_inc, "array_swap": _array_swap, "matmul": _matmul,
    "matmul_inc": _matmul_inc, "elementwise": pull_elementwise, "box": _box, "unbox": _unbox, "slot_get": _slot_get,
    "slot_inc": _slot_inc, "buffer_get": _buffer_get, "buffer_put": _buffer_put, "buffer_inc": _buffer_put,
    "table_get": _table_get, "table_set": _table_set, "table_swap": _table_swap, "table_inc": _table_inc,
}  # fmt: skip
