"""The floats in the fields of objects, as values of their own: what derivatives by objects are made of.

    p.w: float, p.inner.a: array          gather  ->  (p.w, p.inner.a)
                                          scatter: p.w, p.inner.a = ...      copies: new objects, floats zero

A plan says how that is done for values of some types.  `Direct` is for objects of which there is one for each class, as
parameters have them: every float is a value.  Everything else is walked at run time (`walks`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from pullback.infer.complexes import halves
from pullback.infer.elementwise import array_sizes
from pullback.infer.engine import Frame
from pullback.infer.heaps import Heap, allocate, heap_of_type, table_of
from pullback.infer.values import AV, items_of, narrow
from pullback.ir.node import Value
from pullback.prims.base import get
from pullback.types import (
    Array,
    ArrayRef,
    Complex,
    Dict,
    Fixed,
    List,
    Machine,
    Number,
    Record,
    Ref,
    Scalar,
    Tuple,
    Type,
    Union,
    is_float,
    slot_positions,
    slots,
)  # fmt: skip

__all__ = [
    "Direct", "Visit", "blank", "column_get", "column_set", "field_of", "fields_of", "float_columns", "has_objects",
    "is_direct", "leaf_type",
]  # fmt: skip


class Visit(Protocol):
    """The floats of certain values at run time.  `key`: what `revisit` of a plan needs to find them again."""

    key: tuple[Value, ...]

    def gather(self, cx: Frame) -> list[AV]: ...
    def scatter(self, cx: Frame, leaves: Sequence[AV]) -> None: ...
    def copies(self, cx: Frame) -> tuple[list[AV], Visit]: ...


def has_objects(type_: Type) -> bool:
    """Does the type refer to heaps, outside of what functions have captured."""
    match type_:
        case Ref():
            return True
        case Tuple(items) | List(items) | Dict(_, items) | Union(items):
            return any(map(has_objects, items))
    return False


def float_columns(type_: Type) -> list[int]:
    """Which slots of a field are floats that a derivative is taken by."""
    match type_:
        case Number() | Array():
            return [0] if is_float(slots(type_)[0]) else []
        case Complex(real, imag):
            return [*float_columns(real), *(len(slots(real)) + i for i in float_columns(imag))]
        case Tuple(items) | List(items) | Dict(_, items) | Record(_, items):
            found, position = [], 0
            for item in items:
                found += [position + i for i in float_columns(item)]
                position += len(slots(item))
            return found
        case Union():
            return [i for i, slot in enumerate(slots(type_)) if is_float(slot)]
    return []


def fields_of(heap: Heap) -> list[tuple[str, Type, int]]:
    """Name, type and first column of each field.  A field that is found later means another plan."""
    heap = heap.representative
    heap.complete = True
    found, column = [], 0
    for name, type_ in heap.fields.items():
        found.append((name, type_, column))
        column += len(slots(type_))
    return found


def column_get(cx: Frame, heap: Heap, row: Value, column: int) -> Value:
    """What stands in a column of a row."""
    slot = heap.columns[column]
    attrs: dict[str, object] = {"column": column, "type": slot}
    return cx.e.append(get("table_get"), [table_of(cx, heap), row], attrs=attrs, types=[slot]).result


def column_set(cx: Frame, heap: Heap, row: Value, column: int, value: Value) -> None:
    """Let a value stand in a column of a row."""
    wanted = heap.columns[column]
    if isinstance(wanted, ArrayRef) and value.type != wanted:
        value = cx.e("view_relax", value)
    cx.e.append(get("table_set"), [table_of(cx, heap), row, value], attrs={"column": column}, types=())


def leaf_type(machine: Machine) -> Type:
    """The abstract type of a float column by itself."""
    if isinstance(machine, ArrayRef):
        return Array(machine.dtype, machine.rank, machine.contiguous)
    assert isinstance(machine, Scalar)
    return Number(machine.dtype)


def blank(cx: Frame, av: AV) -> list[Value]:
    """The slots of a value with zeros for its numbers."""
    match av.type:
        case Number() | Fixed():
            return [cx.e.like(0, av.value)]
        case Array(dtype, _):
            return [cx.e("array_zeros", *array_sizes(cx, av), dtype=dtype)]
        case Complex():
            return [value for part in halves(av) for value in blank(cx, part)]
        case Tuple() | List() | Dict() | Record():
            return [value for item in items_of(av) for value in blank(cx, item)]
        case Union():
            return _blank_union(cx, av, av.type)
    return list(av.values)


def _blank_union(cx: Frame, av: AV, union: Union) -> list[Value]:
    """A union with zeros for the numbers of what it holds; a slot may hold a tag or a string where it holds no number.
    Arrays stay: what is put into a copy takes their place."""
    found = list(av.values)
    for number, member in enumerate(union.members):
        hit: Value | None = None
        for place, value in zip(slot_positions(union, member), _with_zeros(cx, narrow(av, member)), strict=True):
            if value is av.values[place]:
                continue
            if value.type is not None and is_float(value.type):
                found[place] = value
                continue
            hit = cx.e("eq", av.values[0], cx.e.integer(number)) if hit is None else hit
            found[place] = cx.e("select", hit, value, found[place])
    return found


def _with_zeros(cx: Frame, av: AV) -> list[Value]:
    match av.type:
        case Number() | Fixed():
            return [cx.e.like(0, av.value)]
        case Complex():
            return [value for part in halves(av) for value in _with_zeros(cx, part)]
        case Tuple() | List() | Dict() | Record():
            return [value for item in items_of(av) for value in _with_zeros(cx, item)]
        case Union():
            return _blank_union(cx, av, av.type)
    return list(av.values)


# ------------------------------------------------------------------------------------------------------- direct


def is_direct(types: Sequence[Type]) -> bool:
    """Is there at most one object of each heap, and surely that one."""
    seen: list[Heap] = []

    def fits(type_: Type) -> bool:
        match type_:
            case Ref():
                heap = heap_of_type(type_)
                if heap is None or heap.kind != "object" or heap in seen:
                    return False
                seen.append(heap)
                return all(fits(inner) for _, inner, _ in fields_of(heap))
            case Tuple(items) | List(items) | Dict(_, items):
                return all(map(fits, items))
            case Union(members):
                return not any(map(has_objects, members))
        return True

    return all(map(fits, types))


@dataclass(frozen=True, slots=True)
class _Spot:
    """A column of a row that holds a float."""

    heap: Heap
    row: Value
    column: int


class Direct:
    """Values with one object for each class.  They are found by going through the types."""

    def __init__(self, cx: Frame, values: Sequence[AV]) -> None:
        self.key: tuple[Value, ...] = ()
        self.values = list(values)
        self.spots = [spot for av in values for spot in self._spots(cx, av)]

    def _spots(self, cx: Frame, av: AV) -> Iterator[_Spot]:
        match av.type:
            case Ref():
                heap = heap_of_type(av.type)
                assert heap is not None
                for _, type_, first in fields_of(heap):
                    for i in float_columns(type_):
                        yield _Spot(heap, av.value, first + i)
                    if has_objects(type_):
                        yield from self._spots(cx, field_of(cx, heap, av.value, type_, first))
            case Tuple() | List() | Dict():
                for item in items_of(av):
                    yield from self._spots(cx, item)

    def gather(self, cx: Frame) -> list[AV]:
        """The floats now."""
        return [
            AV(leaf_type(spot.heap.columns[spot.column]), (column_get(cx, spot.heap, spot.row, spot.column),))
            for spot in self.spots
        ]

    def scatter(self, cx: Frame, leaves: Sequence[AV]) -> None:
        """Other floats in their places."""
        for spot, leaf in zip(self.spots, leaves, strict=True):
            column_set(cx, spot.heap, spot.row, spot.column, leaf.value)

    def copies(self, cx: Frame) -> tuple[list[AV], Visit]:
        """New objects of the same structure, with zeros for all numbers."""
        made = [self._copy(cx, av) for av in self.values]
        return made, Direct(cx, made)

    def _copy(self, cx: Frame, av: AV) -> AV:
        if not has_objects(av.type):
            return AV(av.type, tuple(_fitting(cx, v, s) for v, s in zip(blank(cx, av), slots(av.type), strict=True)))
        if not isinstance(av.type, Ref):
            parts = [self._copy(cx, item) for item in items_of(av)]
            return AV(av.type, tuple(value for part in parts for value in part.values))
        heap = heap_of_type(av.type)
        assert heap is not None
        row = allocate(cx, heap)
        for _, type_, first in fields_of(heap):
            copy = self._copy(cx, field_of(cx, heap, av.value, type_, first))
            for i, value in enumerate(copy.values):
                column_set(cx, heap, row, first + i, value)
        return AV(av.type, (row,))


def _fitting(cx: Frame, value: Value, slot: Machine) -> Value:
    return cx.e("view_relax", value) if isinstance(slot, ArrayRef) and value.type != slot else value


def field_of(cx: Frame, heap: Heap, row: Value, type_: Type, first: int) -> AV:
    """A field as it is in its row."""
    return AV(type_, tuple(column_get(cx, heap, row, first + i) for i in range(len(slots(type_)))))
