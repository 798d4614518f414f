"""The floats of object graphs of any shape, and copies of such graphs (see `numbering`).

    gather                     one array of floats for each float column, in the order of the objects
    scatter                    the same back; arrays in fields are overwritten in place
    copies                     as many new rows; a reference becomes first new row + number of the object
    take_twins, give_twins     floats from and to the twins of the tables (see `table_gradients`)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pullback.diagnostic import InternalError
from pullback.infer.elementwise import array_sizes
from pullback.infer.engine import Frame
from pullback.infer.filling import copy as copy_array
from pullback.infer.filling import write as write_array
from pullback.infer.heaps import Heap, allocate, each, read, write
from pullback.infer.leaves import blank, column_get, column_set, field_of, fields_of, has_objects
from pullback.infer.numbering import (
    CONTENT,
    ENTRY,
    Body,
    Numbering,
    array_value,
    columns_of,
    element_count,
    heap_at_row,
    holds_keys,
)
from pullback.infer.values import AV, items_of, narrow
from pullback.ir.node import Value
from pullback.prims.base import get
from pullback.types import (
    Array,
    ArrayRef,
    Dict,
    DType,
    List,
    Ref,
    Scalar,
    Tuple,
    Type,
    Union,
    is_float,
    slot_positions,
)  # fmt: skip

__all__ = ["Walk"]

_ENTRIES = ("live", "places")  # no places: an index of size 0
_KEPT = {"dict": _ENTRIES, "Counter": _ENTRIES, "OrderedDict": _ENTRIES, "defaultdict": (*_ENTRIES, "factory"),
         "deque": ("most",)}  # fmt: skip
"""Fields of containers, apart from those that say where their content is, that copies of them have too."""

UNLIKE = "a tangent or cotangent must have the structure of its value"


class Walk(Numbering):
    """A walk that moves floats and makes copies."""

    # ---------------------------------------------------------------------------------------------------- floats

    def gather(self, cx: Frame) -> list[AV]:
        """One array for each float column."""
        found = []
        for heap, column in self.columns():
            dtype = _dtype(self.owner(heap), column)
            leaf = AV(Array(dtype, 1, True), (cx.e("array_empty", self.size(cx, heap, column), dtype=dtype),))
            self._along(cx, heap, column, leaf, self._take)
            found.append(leaf)
        return found

    def scatter(self, cx: Frame, leaves: Sequence[AV]) -> None:
        """The floats of arrays into the columns."""
        for (heap, column), leaf in zip(self.columns(), leaves, strict=True):
            fits = cx.e("eq", cx.e("array_size", leaf.value, axis=0), self.size(cx, heap, column))
            cx.check(fits, "ValueError", UNLIKE)
            self._along(cx, heap, column, leaf, self._put)

    def _along(
        self, cx: Frame, heap: Heap, column: int, leaf: AV, move: Callable[[Frame, Heap, int, AV, Value, Value], None]
    ) -> None:
        """Move all floats of a column to or from an array."""
        owner = self.owner(heap)
        if self.is_array(heap, column):
            self.set_note(cx, "at", cx.e.integer(0))
        self.places(cx, heap, lambda place, row: move(cx, owner, column, leaf, place, row))

    def _take(self, cx: Frame, owner: Heap, column: int, leaf: AV, place: Value, row: Value) -> None:
        value = column_get(cx, owner, row, column)
        if isinstance(value.type, ArrayRef):
            write_array(cx, self._part(cx, leaf, value), [array_value(value)], lambda cx, items: items[0])
        else:
            cx.e("array_swap", leaf.value, place, value)

    def _put(self, cx: Frame, owner: Heap, column: int, leaf: AV, place: Value, row: Value) -> None:
        if isinstance(owner.columns[column], ArrayRef):
            target = column_get(cx, owner, row, column)
            write_array(cx, array_value(target), [self._part(cx, leaf, target)], lambda cx, items: items[0])
        else:
            column_set(cx, owner, row, column, cx.e("array_get", leaf.value, place))

    def _part(self, cx: Frame, leaf: AV, model: Value) -> AV:
        """The next elements of an array, in the shape of another."""
        at, size = self.note(cx, "at"), element_count(cx, model)
        self.set_note(cx, "at", cx.e("add", at, size))
        flat = cx.e("view_slice", leaf.value, at, size, cx.e.integer(1), axis=0, unit=True)
        return array_value(cx.e("view_reshape", flat, *array_sizes(cx, array_value(model)), given="whole"))

    def tables(self) -> list[Heap]:
        """The heaps with floats."""
        return [owner for owner in map(self.owner, self.heaps) if columns_of(owner)]

    def _twins_of(self, twins: Sequence[Value]) -> dict[Heap, Value]:
        tables = self.tables()
        if len(tables) != len(twins):  # the call told more of what heaps hold; inference starts again with that
            raise InternalError("heaps came to hold floats while a function was inferred")
        return dict(zip(tables, twins, strict=True))

    def take_twins(self, cx: Frame, twins: Sequence[Value], copy: Walk) -> None:
        """The floats of copies from twins of the tables."""
        by_heap = self._twins_of(twins)
        for heap in self.heaps:
            owner = self.owner(heap)
            if owner in by_heap:
                self.pairs(cx, heap, copy, _rows(cx, _take_row, owner, by_heap[owner]))

    def give_twins(self, cx: Frame, twins: Sequence[Value], tangents: Walk) -> None:
        """The floats of tangents, which have the same structure, into twins of the tables."""
        by_heap = self._twins_of(twins)
        for heap in self.heaps:
            owner = self.owner(heap)
            cx.check(cx.e("eq", self.count(heap), tangents.count(heap)), "ValueError", UNLIKE)
            if heap in self.items:
                self.require_lengths(cx, heap, tangents)
            if owner in by_heap:
                self.pairs(cx, heap, tangents, _rows(cx, _give_row, owner, by_heap[owner]))

    def require_lengths(self, cx: Frame, heap: Heap, other: Walk) -> None:
        """Guard: the lists of two walks are equally long."""

        def one(k: Value) -> None:
            size = CONTENT[heap.kind][1]
            m, n = (read(cx, heap, walk.row_of(cx, heap, k), size).value for walk in (self, other))
            cx.check(cx.e("eq", m, n), "ValueError", UNLIKE)

        each(cx, self.count(heap), one)

    def pairs(self, cx: Frame, heap: Heap, copy: Walk, body: Body) -> None:
        """body(row, row of the copy) for all objects of a heap, or all items of its lists."""

        def one(k: Value) -> None:
            old, new = self.row_of(cx, heap, k), copy.row_of(cx, heap, k)
            if heap not in self.items:
                body(old, new)
                return
            # A list may have moved since, but what is told of its rows is of those it had when the walk came by.
            first, size = CONTENT[heap.kind]
            starts = [self.ordered(cx, heap, k, "start"), read(cx, heap, new, first).value]
            each(cx, read(cx, heap, new, size).value, lambda j: body(*(cx.e("add", start, j) for start in starts)))

        each(cx, self.count(heap), one)

    # ---------------------------------------------------------------------------------------------------- copies

    def copies(self, cx: Frame) -> tuple[list[AV], Walk]:
        """New objects of the same structure, with zeros for all numbers."""
        first = {heap: allocate(cx, heap, self.count(heap)) for heap in self.heaps}
        for heap in self.heaps:
            if heap in self.items:
                self._copy_lists(cx, heap, first)
            else:
                self._copy_objects(cx, heap, first)
        made = [AV(av.type, tuple(self._copied(cx, av, first))) for av in self.values]
        copy = Walk(cx, made, self.key)
        copy.first = first
        return made, copy

    def _copy_objects(self, cx: Frame, heap: Heap, first: dict[Heap, Value]) -> None:
        def one(k: Value) -> None:
            self._copy_row(cx, heap, self.row_of(cx, heap, k), cx.e("add", first[heap], k), first)

        each(cx, self.count(heap), one)

    def _copy_lists(self, cx: Frame, heap: Heap, first: dict[Heap, Value]) -> None:
        items = self.items[heap]
        begin = allocate(cx, items, self.note(cx, f"items_{self.number(heap)}"))

        def one(k: Value) -> None:
            old, new = self.row_of(cx, heap, k), cx.e("add", first[heap], k)
            start = cx.e("add", begin, self.ordered(cx, heap, k, "items"))
            first_name, size = CONTENT[heap.kind]
            length = read(cx, heap, old, size)
            for name in _KEPT.get(heap.kind, ()):
                write(cx, heap, new, name, read(cx, heap, old, name))
            write(cx, heap, new, first_name, AV(items.type, (start,)))
            write(cx, heap, new, size, length)
            write(cx, heap, new, "capacity", length)
            self.content(cx, heap, old, k, start, lambda place, row: self._copy_row(cx, items, row, place, first))

        each(cx, self.count(heap), one)

    def _copy_row(self, cx: Frame, heap: Heap, old: Value, new: Value, first: dict[Heap, Value]) -> None:
        for name, type_, column in fields_of(heap):
            av = field_of(cx, heap, old, type_, column)
            kept = heap.kind == "entries" and name in ENTRY
            for i, value in enumerate(av.values if kept else self._copied(cx, av, first)):
                column_set(cx, heap, new, column + i, value)

    def _copied(self, cx: Frame, av: AV, first: dict[Heap, Value]) -> list[Value]:
        """The slots of a value with zeros for numbers, and references to copies."""
        match av.type:
            case Ref() if holds_keys(av.type):
                return [av.value]
            case Ref():
                heap = heap_at_row(av.type)
                return [cx.e("add", first[heap], read(cx, self.marks[heap], av.value, "number").value)]
            case Tuple() | List() | Dict():
                return [value for item in items_of(av) for value in self._copied(cx, item, first)]
            case Union(members):
                return self._copied_union(cx, av, members, first)
        return blank(cx, av)

    def _copied_union(self, cx: Frame, av: AV, members: Sequence[Type], first: dict[Heap, Value]) -> list[Value]:
        assert isinstance(av.type, Union)
        found = blank(cx, av)
        for number, member in enumerate(members):
            if not has_objects(member):
                continue
            places = slot_positions(av.type, member)
            now = AV(member, tuple(found[p] for p in places))
            hit = cx.e("eq", av.values[0], cx.e.integer(number))
            given = narrow(av, member)

            def copied(member: Type = member, given: AV = given) -> list[AV]:
                return [AV(member, tuple(self._copied(cx, given, first)))]

            (chosen,) = cx.choose(hit, copied, lambda now=now: [now])  # type: ignore[misc]
            for p, value in zip(places, chosen.values, strict=True):
                found[p] = value
        return found


def _twin_columns(heap: Heap) -> list[tuple[int, int]]:
    """The float columns of a heap, and the columns of its twin that belong to them."""
    carried = [i for i, slot in enumerate(heap.columns) if is_float(slot)]
    return [(column, carried.index(column)) for column in columns_of(heap)]


def _rows(cx: Frame, rule: Callable[[Frame, Heap, Value, Value, Value], None], heap: Heap, twin: Value) -> Body:
    """A rule for pairs of rows."""
    return lambda row, other: rule(cx, heap, twin, row, other)


def _give_row(cx: Frame, heap: Heap, twin: Value, row: Value, given: Value) -> None:
    """The floats of one row into the twin's row; arrays are copied, for the twin's may be written."""
    for column, place in _twin_columns(heap):
        value = column_get(cx, heap, given, column)
        if isinstance(value.type, ArrayRef):
            model = array_value(column_get(cx, heap, row, column))
            for m, n in zip(array_sizes(cx, model), array_sizes(cx, array_value(value)), strict=True):
                cx.check(cx.e("eq", m, n), "ValueError", UNLIKE)
            made = copy_array(cx, array_value(value)).value
            value = made if made.type == value.type else cx.e("view_relax", made)
        cx.e.append(get("table_set"), [twin, row, value], attrs={"column": place}, types=())


def _take_row(cx: Frame, heap: Heap, twin: Value, old: Value, new: Value) -> None:
    """The floats of one row from the twin's row; an array that nothing came to is null there."""
    for column, place in _twin_columns(heap):
        slot = heap.columns[column]
        attrs: dict[str, object] = {"column": place, "type": slot}
        found = cx.e.append(get("table_get"), [twin, old], attrs=attrs, types=[slot]).result
        if isinstance(slot, ArrayRef):
            found = _or_zeros(cx, found, column_get(cx, heap, new, column))
        column_set(cx, heap, new, column, found)


def _or_zeros(cx: Frame, found: Value, model: Value) -> Value:
    """An array, or zeros where its shape is not that of the model."""
    sizes = array_sizes(cx, array_value(model))
    same = cx.e.boolean(True)
    for axis, size in enumerate(sizes):
        same = cx.e("and_", same, cx.e("eq", cx.e("array_size", found, axis=axis), size))
    assert isinstance(model.type, ArrayRef)
    dtype, kind = model.type.dtype, array_value(found).type

    def zeros() -> list[AV]:
        made = cx.e("array_zeros", *sizes, dtype=dtype)
        return [AV(kind, (made if made.type == found.type else cx.e("view_relax", made),))]

    (chosen,) = cx.choose(same, lambda: [AV(kind, (found,))], zeros)
    return chosen.value


def _dtype(heap: Heap, column: int) -> DType:
    slot = heap.columns[column]
    assert isinstance(slot, Scalar | ArrayRef)
    return slot.dtype
