"""Cells: variables that functions share and that change after a function has captured them.

    n = 0                                     c = py.cell{n}(0)           a row of the cell's table
    def add(): nonlocal n; n += 1      ->     add captures the row; py.cell_get, py.cell_set read and write it
"""

from __future__ import annotations

from pullback.diagnostic import InternalError
from pullback.infer.engine import Frame
from pullback.infer.heaps import Heap, allocate, heap_at, heap_of_type, read, write
from pullback.infer.structures import without
from pullback.infer.values import AV
from pullback.ir.node import Op
from pullback.types import UNBOUND, Ref, Unbound, Union

__all__ = ["bound", "cell", "cell_get", "cell_set"]

_VALUE = "value"


def cell(cx: Frame, op: Op, operands: list[AV]) -> AV:
    """A new cell; without an operand the variable is not set yet."""
    heap = heap_at(cx, "cell")
    row = allocate(cx, heap)
    write(cx, heap, row, _VALUE, operands[0] if operands else AV(UNBOUND))
    return AV(heap.type, (row,))


def cell_get(cx: Frame, op: Op, operands: list[AV]) -> AV:
    """The variable's present value, or NameError where it is not set."""
    heap = _heap(operands[0])
    value = read(cx, heap, operands[0].value, _VALUE)
    return value if cx.dead else bound(cx, value, str(op.attrs["name"]), free=bool(op.attrs.get("free")))


def cell_set(cx: Frame, op: Op, operands: list[AV]) -> list[AV]:
    """Assign the variable."""
    subject, value = operands
    write(cx, _heap(subject), subject.value, _VALUE, value)
    return []


def _heap(av: AV) -> Heap:
    heap = heap_of_type(av.type) if isinstance(av.type, Ref) else None
    if heap is None:
        raise InternalError(f"{av.type} is no cell")
    return heap


def bound(cx: Frame, subject: AV, name: str, *, free: bool = False) -> AV:
    """The value of a name that may be unset: UnboundLocalError (NameError for a captured one) where it is."""
    exception = "NameError" if free else "UnboundLocalError"
    where = "free variable" if free else "local variable"
    message = f"cannot access {where} '{name}' where it is not associated with a value"
    if free:
        message += " in enclosing scope"
    if isinstance(subject.type, Unbound):
        cx.check(cx.e.boolean(False), exception, message)
        return cx.stop()
    if not isinstance(subject.type, Union) or UNBOUND not in subject.type.members:
        return subject
    index = subject.type.members.index(UNBOUND)
    cx.check(cx.e("ne", subject.values[0], cx.e.integer(index)), exception, message)
    return without(cx, subject, lambda member: isinstance(member, Unbound))
