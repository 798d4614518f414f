"""Object graphs numbered at run time: every object that values refer to gets a number, whatever its shape.

    t: None | Ref(Tree)        marks[row of t] = (the walk, number of the object)
                               order[start + number] = row of t

Lists and dicts are objects here, and what is in them follows one another.  All of this is IR as any other, so
derivatives of it are derivatives as any other.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Self

from pullback.infer.elementwise import array_sizes
from pullback.infer.engine import Frame
from pullback.infer.heaps import Heap, allocate, each, heap_of, heap_of_type, read, table_of, write
from pullback.infer.leaves import column_get, field_of, fields_of, float_columns, has_objects
from pullback.infer.values import AV, items_of, narrow
from pullback.ir.node import Value
from pullback.prims.base import get
from pullback.runtime.boundary import RECORDS
from pullback.types import Array, ArrayRef, Box, Dict, DType, List, Number, Ref, Tuple, Type, Union

__all__ = [
    "CONTENT", "ENTRY", "Body", "Numbering", "array_value", "columns_of", "element_count", "floats_below",
    "heap_at_row", "holds_keys", "keeps_boxes", "tables_below",
]  # fmt: skip

_INT, _BOOL = Number(DType.I64), Number(DType.BOOL)
CONTENT = {
    **dict.fromkeys(("list", "tuple", "deque"), ("items", "length")),
    **dict.fromkeys(("dict", "defaultdict", "Counter", "OrderedDict"), ("entries", "used")),
}  # fmt: skip
"""Kinds of objects whose content are rows of another heap: the fields with the first of them, and with their number."""

ENTRY = ("key", "alive")  # fields of the entries of dicts that copies share
Body = Callable[[Value, Value], None]


def _below(types: Sequence[Type]) -> list[Heap]:
    """The heaps that values of the types refer to, directly or not, in the order they are met."""
    found: list[Heap] = []

    def meet(type_: Type) -> None:
        match type_:
            case Ref():
                heap = heap_of_type(type_)
                assert heap is not None
                if heap not in found and not holds_keys(type_):
                    found.append(heap)
                    for _, inner, _ in fields_of(heap):
                        meet(inner)
            case Tuple(items) | List(items) | Dict(_, items) | Union(items):
                for item in items:
                    meet(item)

    for type_ in types:
        meet(type_)
    return found


def holds_keys(type_: Ref) -> bool:
    """Is it a set of anything but floats, which derivatives pass by: copies refer to the same one."""
    heap = heap_of_type(type_)
    if heap is None or heap.kind not in ("set", "frozenset"):
        return False
    slots = heap_of_type(heap.known("table"))
    return slots is None or not float_columns(slots.known("key"))


def floats_below(type_: Type) -> bool:
    """Are there floats in the value or in objects that it refers to."""
    return bool(float_columns(type_)) or any(columns_of(heap) for heap in _below([type_]))


def tables_below(types: Sequence[Type]) -> list[Heap]:
    """The heaps with floats that values of the types refer to."""
    return [heap for heap in _below(types) if columns_of(heap)]


def keeps_boxes(types: Sequence[Type]) -> bool:
    """Are there closures behind references in the objects that values of the types refer to."""
    return any(isinstance(column, Box) for heap in _below(types) for column in heap.columns)


def columns_of(heap: Heap) -> list[int]:
    """The float columns of a heap that derivatives are taken by."""
    fields = [(t, first) for name, t, first in fields_of(heap) if heap.kind != "entries" or name not in ENTRY]
    return [first + i for type_, first in fields for i in float_columns(type_)]


class Numbering:
    """One walk.  `key`: its number, and for each heap where its objects begin in `order` and how many there are."""

    def __init__(self, cx: Frame, values: Sequence[AV], key: Sequence[Value]) -> None:
        self.values = list(values)
        self.key = tuple(key)
        heaps = _below([av.type for av in values])
        self.items = {heap: _items_of(heap) for heap in heaps if heap.kind in CONTENT}
        self.heaps = [heap for heap in heaps if heap not in self.items.values() and heap.kind != "places"]
        self.first: dict[Heap, Value] = {}  # rows of copies, where this is a walk over them
        for heap in self.heaps:
            if heap.kind not in ("object", *CONTENT, *RECORDS):
                raise cx.error(f"derivatives by a {heap.kind} that changes are not supported",
                               "its floats cannot be told apart here", "use a list, an object or an array")  # fmt: skip
        kind = tuple((heap.kind, heap.key) for heap in self.heaps)
        # Walks of other kinds count for themselves, so they have marks of their own.
        self.marks = {heap: _side_table(cx, "mark", heap, ["walk", "number"], kind) for heap in self.heaps}
        self.order = {heap: _side_table(cx, "order", heap, ["row", "items", "start"]) for heap in self.heaps}
        self.walks = heap_of(cx, "walk", kind)
        for name in self._notes():
            self.walks.learn(name, _INT)

    # ----------------------------------------------------------------------------------- what is noted of a walk

    def _notes(self) -> list[str]:
        """Fields of a row of `walks`: how far each heap has been looked at, totals, and a place while going along."""
        numbers = range(len(self.heaps))
        totals = [self.total(heap, column) for heap, column in self.columns() if self.is_array(heap, column)]
        return ["at", *(f"done_{n}" for n in numbers), *(f"items_{n}" for n in numbers), *totals]

    def note(self, cx: Frame, name: str) -> Value:
        return read(cx, self.walks, self.key[0], name).value

    def set_note(self, cx: Frame, name: str, value: Value) -> None:
        write(cx, self.walks, self.key[0], name, AV(_INT, (value,)))

    def number(self, heap: Heap) -> int:
        return self.heaps.index(heap)

    def total(self, heap: Heap, column: int) -> str:
        return f"total_{self.number(heap)}_{column}"

    def _start(self, heap: Heap) -> Value:
        return self.key[1 + 2 * self.number(heap)]

    def count(self, heap: Heap) -> Value:
        return self.key[2 + 2 * self.number(heap)]

    def owner(self, heap: Heap) -> Heap:
        """The heap whose rows hold the content of an object: that of the items of a list."""
        return self.items.get(heap, heap)

    def columns(self) -> list[tuple[Heap, int]]:
        """The float columns, by the heap of the objects."""
        return [(heap, column) for heap in self.heaps for column in columns_of(self.owner(heap))]

    def is_array(self, heap: Heap, column: int) -> bool:
        return isinstance(self.owner(heap).columns[column], ArrayRef)

    # --------------------------------------------------------------------------------------------------- walking

    @classmethod
    def begin(cls, cx: Frame, values: Sequence[AV]) -> Self:
        """Number the objects that values refer to."""
        walk = cls(cx, values, ())
        starts = [cx.e("table_length", table_of(cx, walk.order[heap])) for heap in walk.heaps]
        walk.key = (allocate(cx, walk.walks), *(v for start in starts for v in (start, start)))
        for heap in walk.heaps:
            _extend(cx, walk.marks[heap], cx.e("table_length", table_of(cx, heap)))
            walk.set_note(cx, f"done_{walk.number(heap)}", walk._start(heap))
        for av in values:
            walk._meet(cx, av)
        walk._rounds(cx)
        counts = [cx.e("sub", walk._met(cx, heap), walk._start(heap)) for heap in walk.heaps]
        walk.key = (walk.key[0], *(v for pair in zip(starts, counts, strict=True) for v in pair))
        return walk

    def _met(self, cx: Frame, heap: Heap) -> Value:
        return cx.e("table_length", table_of(cx, self.order[heap]))

    def _rounds(self, cx: Frame) -> None:
        """Look at objects that were met until there are none left."""

        def left() -> list[AV]:
            some = cx.e.boolean(False)
            for heap in self.heaps:
                behind = cx.e("lt", self.note(cx, f"done_{self.number(heap)}"), self._met(cx, heap))
                some = cx.e("or_", some, behind)
            return [AV(_BOOL, (some,))]

        def look() -> list[AV]:
            for heap in self.heaps:
                self._round(cx, heap)
            return []

        test, step = cx.branch(left), cx.branch(look)
        test.block.results = list(test.results[0].values)
        cx.e.append(get("while"), [], blocks=[test.block, step.block], types=())

    def _round(self, cx: Frame, heap: Heap) -> None:
        done, met = self.note(cx, f"done_{self.number(heap)}"), self._met(cx, heap)
        self.set_note(cx, f"done_{self.number(heap)}", met)
        inner = [(type_, first) for _, type_, first in fields_of(self.owner(heap)) if has_objects(type_)]

        def look(_: Value, row: Value) -> None:
            for type_, first in inner:
                self._meet(cx, field_of(cx, self.owner(heap), row, type_, first))

        def one(k: Value) -> None:
            row = read(cx, self.order[heap], cx.e("add", done, k), "row").value
            self.content(cx, heap, row, k, k, look)

        if inner:
            each(cx, cx.e("sub", met, done), one)

    def content(self, cx: Frame, heap: Heap, row: Value, number: Value, base: Value, body: Body) -> None:
        """body(place, row) for an object itself, or for each item of a list, whose places begin at `base`."""
        if heap not in self.items:
            body(number, row)
            return
        start, length = (read(cx, heap, row, name).value for name in CONTENT[heap.kind])
        each(cx, length, lambda j: body(cx.e("add", base, j), cx.e("add", start, j)))

    def _meet(self, cx: Frame, av: AV) -> None:
        """Number the objects that a value refers to, where this has not been done."""
        match av.type:
            case Ref() if not holds_keys(av.type):
                heap = heap_at_row(av.type)
                walk = cx.e("add", self.key[0], cx.e.integer(1))  # rows that no walk came to have a zero
                new = cx.e("ne", read(cx, self.marks[heap], av.value, "walk").value, walk)
                cx.choose(new, lambda: self._mark(cx, heap, av.value, walk), list)
            case Tuple() | List() | Dict():
                for item in items_of(av):
                    self._meet(cx, item)
            case Union(members):
                for number, member in enumerate(members):
                    if has_objects(member):
                        self._meet_member(cx, cx.e("eq", av.values[0], cx.e.integer(number)), narrow(av, member))

    def _meet_member(self, cx: Frame, hit: Value, member: AV) -> None:
        def meet() -> list[AV]:
            self._meet(cx, member)
            return []

        cx.choose(hit, meet, list)

    def _mark(self, cx: Frame, heap: Heap, row: Value, walk: Value) -> list[AV]:
        place = cx.e("table_rows", table_of(cx, self.order[heap]), cx.e.integer(1), numbered=True)
        number = cx.e("sub", place, self._start(heap))
        write(cx, self.marks[heap], row, "walk", AV(_INT, (walk,)))
        write(cx, self.marks[heap], row, "number", AV(_INT, (number,)))
        write(cx, self.order[heap], place, "row", AV(_INT, (row,)))
        if heap in self.items:
            name = f"items_{self.number(heap)}"
            base = self.note(cx, name)
            write(cx, self.order[heap], place, "items", AV(_INT, (base,)))
            start = read(cx, heap, row, CONTENT[heap.kind][0]).value
            write(cx, self.order[heap], place, "start", AV(_INT, (start,)))
            self.set_note(cx, name, cx.e("add", base, read(cx, heap, row, CONTENT[heap.kind][1]).value))
        for owner, column in self.columns():
            if owner == heap and self.is_array(heap, column):
                self._add_sizes(cx, heap, row, column)
        return []

    def _add_sizes(self, cx: Frame, heap: Heap, row: Value, column: int) -> None:
        """Count the elements of the arrays in a column of an object."""

        def add(_: Value, place: Value) -> None:
            size = element_count(cx, column_get(cx, self.owner(heap), place, column))
            name = self.total(heap, column)
            self.set_note(cx, name, cx.e("add", self.note(cx, name), size))

        self.content(cx, heap, row, row, row, add)

    def row_of(self, cx: Frame, heap: Heap, number: Value) -> Value:
        """The row of an object by its number."""
        if heap in self.first:
            return cx.e("add", self.first[heap], number)
        return self.ordered(cx, heap, number, "row")

    def ordered(self, cx: Frame, heap: Heap, number: Value, name: str) -> Value:
        """What is noted of an object; "items": the number of the first item of a list among the items of all lists."""
        return read(cx, self.order[heap], cx.e("add", self._start(heap), number), name).value

    def size(self, cx: Frame, heap: Heap, column: int) -> Value:
        """The number of floats in a column of all objects."""
        if self.is_array(heap, column):
            return self.note(cx, self.total(heap, column))
        return self.note(cx, f"items_{self.number(heap)}") if heap in self.items else self.count(heap)

    def places(self, cx: Frame, heap: Heap, body: Body) -> None:
        """body(place, row) for all objects of a heap, or for all items of its lists."""

        def one(k: Value) -> None:
            base = self.ordered(cx, heap, k, "items") if heap in self.items else k
            self.content(cx, heap, self.row_of(cx, heap, k), k, base, body)

        each(cx, self.count(heap), one)


# ------------------------------------------------------------------------------------------------------- helpers


def heap_at_row(type_: Type) -> Heap:
    """The heap of a reference."""
    heap = heap_of_type(type_)
    assert heap is not None
    return heap


def _items_of(heap: Heap) -> Heap:
    return heap_at_row(heap.known(CONTENT[heap.kind][0]))


def _side_table(cx: Frame, kind: str, heap: Heap, names: Sequence[str], *owner: Hashable) -> Heap:
    """A table of ints that says something of the rows of another, to `owner` if that is given."""
    found = heap_of(cx, kind, (heap.kind, heap.key, *owner))
    for name in names:
        found.learn(name, _INT)
    return found


def _extend(cx: Frame, heap: Heap, length: Value) -> None:
    """Let a table have at least so many rows."""
    table = table_of(cx, heap)
    missing, zero = cx.e("sub", length, cx.e("table_length", table)), cx.e.integer(0)
    cx.e("table_rows", table, cx.e("select", cx.e("gt", missing, zero), missing, zero))


def array_value(value: Value) -> AV:
    """An array as an abstract value."""
    assert isinstance(value.type, ArrayRef)
    return AV(Array(value.type.dtype, value.type.rank, value.type.contiguous), (value,))


def element_count(cx: Frame, array: Value) -> Value:
    """How many elements an array has."""
    total = cx.e.integer(1)
    for size in array_sizes(cx, array_value(array)):
        total = cx.e("mul", total, size)
    return total
