"""Lists that change: rows of two tables, one of headers and one of items.

    xs = [1.0, 2.0]     header: items 0, length 2, capacity 2        items: 1.0 | 2.0
    xs.append(3.0)      header: items 2, length 3, capacity 4        items: 1.0 | 2.0 | 1.0 | 2.0 | 3.0 | -

A list that outgrows its rows moves to the end of the table of items, or grows in place where it is the last there.  A
tuple of run-time length is the same thing that nothing changes.  What is more than a few ops is written in the accepted
Python (`prims.prelude.lists`); this module has what that is made of.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from pullback.infer.calls import call
from pullback.infer.engine import Frame
from pullback.infer.heaps import Heap, allocate, heap_of, heap_of_type, read, write
from pullback.infer.lattice import WEAK_INT
from pullback.infer.registry import prelude
from pullback.infer.values import AV, items_of
from pullback.ir.node import Value
from pullback.types import NEVER, List, Range, Tuple, Type

__all__ = [
    "append",
    "element",
    "first_item",
    "frozen",
    "heap_behind",
    "is_array_like",
    "is_sequence",
    "item_type",
    "key_here",
    "length",
    "make",
    "put",
    "range_length",
    "reserved",
    "set_length",
]  # fmt: skip

SEQUENCES = ("list", "tuple")


def is_sequence(type_: Type) -> bool:
    """Is this a list or tuple of run-time length."""
    heap = heap_of_type(type_)
    return heap is not None and heap.kind in SEQUENCES


def is_array_like(type_: Type) -> bool:
    """Is this what NumPy makes an array of: a list, tuple or range."""
    return isinstance(type_, Tuple | List | Range) or is_sequence(type_)


def range_length(cx: Frame, av: AV) -> Value:
    """How many items a range has; its count is below zero where it ends before it begins."""
    return cx.e("maximum", av.values[1], cx.e.integer(0))


def key_here(cx: Frame) -> Hashable:
    """The site of the op that is being inferred."""
    return cx.code, cx.op, cx.skeleton, cx.seen_at


def heap_behind(av: AV) -> Heap:
    """The heap of a reference."""
    heap = heap_of_type(av.type)
    assert heap is not None
    return heap


def make(cx: Frame, key: Hashable, items: Sequence[AV], kind: str = "list") -> AV:
    """A new list or tuple of these items."""
    made = reserved(cx, key, cx.e.integer(len(items)), kind)
    if items:
        start = first_item(cx, made)
        for number, item in enumerate(items):
            put(cx, start, cx.e.integer(number), item)
    return made


def reserved(cx: Frame, key: Hashable, count: Value, kind: str = "list") -> AV:
    """A new list of `count` items that are not set yet."""
    heap, store = heap_of(cx, kind, key), heap_of(cx, "items", (kind, key))
    row = allocate(cx, heap)
    start = allocate(cx, store, count)
    size = AV(WEAK_INT, (count,))
    for name, value in (("items", AV(store.type, (start,))), ("length", size), ("capacity", size)):
        write(cx, heap, row, name, value)
    return AV(heap.type, (row,))


def item_type(av: AV) -> Type:
    """What is known of the items of a list or tuple of run-time length."""
    store = heap_of_type(heap_behind(av).known("items"))
    return NEVER if store is None else store.known("item")


# ------------------------------------------------------------------------------------------------------- access


def length(cx: Frame, av: AV) -> Value:
    """How many items it has now."""
    return read(cx, heap_behind(av), av.value, "length").value


def set_length(cx: Frame, av: AV, count: Value) -> None:
    """It has that many items from now on; they lie within its capacity."""
    write(cx, heap_behind(av), av.value, "length", AV(WEAK_INT, (count,)))


def first_item(cx: Frame, av: AV) -> AV:
    """A reference to its first item, valid until the list grows."""
    return read(cx, heap_behind(av), av.value, "items")


def element(cx: Frame, start: AV, k: Value) -> AV:
    """The k-th item from a first one, 0 <= k < length."""
    return read(cx, heap_behind(start), cx.e("add", start.value, k), "item")


def put(cx: Frame, start: AV, k: Value, item: AV) -> None:
    """Store the k-th item."""
    write(cx, heap_behind(start), cx.e("add", start.value, k), "item", item)


def append(cx: Frame, av: AV, item: AV) -> None:
    """list.append."""
    heap, row = heap_behind(av), av.value
    count, capacity = length(cx, av), read(cx, heap, row, "capacity")
    start = first_item(cx, av)

    def grown() -> list[AV]:
        more = AV(WEAK_INT, (cx.e("add", count, cx.e.integer(1)),))
        moved = call(cx, prelude(cx, "pullback.reserve"), [start, AV(WEAK_INT, (count,)), capacity, more], {})
        assert isinstance(moved.type, Tuple)
        items, room = items_of(moved)
        write(cx, heap, row, "items", items)
        write(cx, heap, row, "capacity", room)
        return [items]

    (start,) = cx.choose(cx.e("ge", count, capacity.value), grown, lambda: [start])
    put(cx, start, count, item)
    set_length(cx, av, cx.e("add", count, cx.e.integer(1)))


def frozen(cx: Frame, av: AV) -> AV:
    """A list that nobody else has, as a tuple: a header of its own over the same items."""
    heap = heap_of(cx, "tuple", ("frozen", heap_behind(av).key))
    row = allocate(cx, heap)
    for name in ("items", "length", "capacity"):
        write(cx, heap, row, name, read(cx, heap_behind(av), av.value, name))
    return AV(heap.type, (row,))
