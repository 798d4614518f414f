"""Lists that change, and tuples of run-time length, in the accepted Python.

A list is a row with the fields items (a reference to the first of its items), length and capacity.  What is marked
`structural` only moves rows; the rest reads lists by their own methods and by `at` and `put_at`, which do not check.
"""

from __future__ import annotations

from typing import Any

from pullback.prims.prelude.intrinsics import (
    at,
    at_end,
    copy_row,
    field,
    outlined,
    put_at,
    put_field,
    raise_with,
    row,
    rows,
    sized,
    structural,
)

__all__ = ["FUNCTIONS"]

END = 9223372036854775807


@outlined
def reserve(items: Any, used: int, capacity: int, wanted: int) -> Any:
    """Where the items are, and for how many there is room, once there is room for `wanted`: in place, or moved."""
    room = 2 * capacity
    if room < wanted:
        room = wanted
    if room < 4:
        room = 4
    if at_end(items, capacity):
        rows(items, room - capacity)
        return items, room
    fresh = rows(items, room)
    for k in range(used):
        copy_row(row(fresh, k), row(items, k))
    return fresh, room


@structural
def resize(xs: Any, count: int) -> None:
    """The list has `count` items; new ones are not set yet."""
    capacity = field(xs, "capacity")
    if count > capacity:
        items, room = reserve(field(xs, "items"), field(xs, "length"), capacity, count)
        put_field(xs, "items", items)
        put_field(xs, "capacity", room)
    put_field(xs, "length", count)


@structural
def move_up(items: Any, first: int, last: int, by: int) -> None:
    """Items first..last-1 move up."""
    for k in range(last - first):
        copy_row(row(items, last - 1 - k + by), row(items, last - 1 - k))


@structural
def move_down(items: Any, first: int, last: int, by: int) -> None:
    """Items first..last-1 move down."""
    for k in range(last - first):
        copy_row(row(items, first + k - by), row(items, first + k))


# ------------------------------------------------------------------------------------------------------- methods


def extend(xs: Any, iterable: Any) -> None:
    for item in iterable:
        xs.append(item)


def extend_sequence(xs: Any, other: Any) -> None:
    """As many items as there are now: the other may be the list itself."""
    for k in range(len(other)):
        xs.append(at(field(other, "items"), k))


@structural
def position_in(count: int, index: int) -> int:
    """Where insert puts an item."""
    if index < 0:
        index = index + count
        if index < 0:
            index = 0
    if index > count:
        index = count
    return index


def insert(xs: Any, index: int, item: Any) -> None:
    count = len(xs)
    place = position_in(count, index)
    resize(xs, count + 1)
    items = field(xs, "items")
    move_up(items, place, count, 1)
    put_at(items, place, item)


def pop_last(xs: Any) -> Any:
    count = len(xs)
    if count == 0:
        raise IndexError("pop from empty list")
    put_field(xs, "length", count - 1)
    return at(field(xs, "items"), count - 1)


def pop(xs: Any, index: int) -> Any:
    count = len(xs)
    if count == 0:
        raise IndexError("pop from empty list")
    place = index + count if index < 0 else index
    if place < 0 or place >= count:
        raise IndexError("pop index out of range")
    return take_out(xs, place)


def take_out(xs: Any, place: int) -> Any:
    """The item of a place, which the list loses."""
    items, count = field(xs, "items"), field(xs, "length")
    item = at(items, place)
    move_down(items, place + 1, count, 1)
    put_field(xs, "length", count - 1)
    return item


def delete_item(xs: Any, index: int) -> None:
    count = len(xs)
    place = index + count if index < 0 else index
    if place < 0 or place >= count:
        raise IndexError("list assignment index out of range")
    move_down(field(xs, "items"), place + 1, count, 1)
    put_field(xs, "length", count - 1)


def remove(xs: Any, item: Any) -> None:
    place = find(xs, item, 0, END)
    if place < 0:
        raise ValueError("list.remove(x): x not in list")
    move_down(field(xs, "items"), place + 1, len(xs), 1)
    put_field(xs, "length", len(xs) - 1)


def find(xs: Any, item: Any, start: int, stop: int) -> int:
    """The first place of an item, or -1."""
    k = start if start >= 0 else max(start + len(xs), 0)
    last = stop if stop >= 0 else stop + len(xs)
    while k < last and k < len(xs):
        if xs[k] == item:
            return k
        k += 1
    return -1


def index_of(xs: Any, item: Any, start: int = 0, stop: int = END) -> int:
    place = find(xs, item, start, stop)
    raise_with(place >= 0, "ValueError", "{} is not in list", item)
    return place


def index_in_tuple(xs: Any, item: Any, start: int = 0, stop: int = END) -> int:
    place = find(xs, item, start, stop)
    if place < 0:
        raise ValueError("tuple.index(x): x not in tuple")
    return place


def count_of(xs: Any, item: Any) -> int:
    total = 0
    for other in xs:
        if other == item:
            total += 1
    return total


def contains(xs: Any, item: Any) -> bool:
    for other in xs:
        if other == item:
            return True
    return False


def reverse(xs: Any) -> None:
    items, count = field(xs, "items"), len(xs)
    for k in range(count // 2):
        low, high = at(items, k), at(items, count - 1 - k)
        put_at(items, k, high)
        put_at(items, count - 1 - k, low)


def clear(xs: Any) -> None:
    put_field(xs, "length", 0)


def copy(xs: Any) -> Any:
    count = len(xs)
    fresh = sized(count)
    target, source = field(fresh, "items"), field(xs, "items")
    for k in range(count):
        put_at(target, k, at(source, k))
    return fresh


def as_list(iterable: Any) -> Any:
    fresh = sized(0)
    for item in iterable:
        fresh.append(item)
    return fresh


# ------------------------------------------------------------------------------------------- slices, sums, products


@structural
def lower_bound(count: int, start: Any, step: int) -> Any:
    """Where a slice begins."""
    if start is None:
        return count - 1 if step < 0 else 0
    if start < 0:
        start = start + count
        if start < 0:
            start = -1 if step < 0 else 0
    elif start >= count:
        start = count - 1 if step < 0 else count
    return start


@structural
def upper_bound(count: int, stop: Any, step: int) -> Any:
    """Where a slice ends."""
    if stop is None:
        return -1 if step < 0 else count
    if stop < 0:
        stop = stop + count
        if stop < 0:
            stop = -1 if step < 0 else 0
    elif stop >= count:
        stop = count - 1 if step < 0 else count
    return stop


@structural
def slice_length(low: int, high: int, step: int) -> int:
    """How many items a slice has."""
    if step < 0:
        return (low - high - 1) // (-step) + 1 if high < low else 0
    return (high - low - 1) // step + 1 if low < high else 0


def step_of(step: Any) -> Any:
    if step is None:
        return 1
    if step == 0:
        raise ValueError("slice step cannot be zero")
    return step


def get_slice(xs: Any, start: Any, stop: Any, step: Any) -> Any:
    by = step_of(step)
    low, high = lower_bound(len(xs), start, by), upper_bound(len(xs), stop, by)
    count = slice_length(low, high, by)
    fresh = sized(count)
    target, source = field(fresh, "items"), field(xs, "items")
    for k in range(count):
        put_at(target, k, at(source, low + k * by))
    return fresh


def part(xs: Any, low: int, high: int) -> Any:
    """Items low..high-1 in a list of their own."""
    fresh = sized(high - low)
    target, source = field(fresh, "items"), field(xs, "items")
    for k in range(high - low):
        put_at(target, k, at(source, low + k))
    return fresh


def set_slice(xs: Any, start: Any, stop: Any, step: Any, values: Any) -> None:
    """xs[start:stop:step] = values, a list of their own."""
    by, count, given = step_of(step), len(xs), len(values)
    low, high = lower_bound(count, start, by), upper_bound(count, stop, by)
    if by == 1:
        replace(xs, low, max(low, high), values)
        return
    wanted = slice_length(low, high, by)
    message = "attempt to assign sequence of size {} to extended slice of size {}"
    raise_with(wanted == given, "ValueError", message, given, wanted)
    items, source = field(xs, "items"), field(values, "items")
    for k in range(given):
        put_at(items, low + k * by, at(source, k))


def replace(xs: Any, low: int, high: int, values: Any) -> None:
    """The values take the place of items low..high-1."""
    count, given = len(xs), len(values)
    size = count + given - (high - low)
    if size > count:
        resize(xs, size)
        move_up(field(xs, "items"), high, count, size - count)
    elif size < count:
        move_down(field(xs, "items"), high, count, count - size)
        put_field(xs, "length", size)
    items, source = field(xs, "items"), field(values, "items")
    for k in range(given):
        put_at(items, low + k, at(source, k))


def delete_slice(xs: Any, start: Any, stop: Any, step: Any) -> None:
    by, count, items = step_of(step), len(xs), field(xs, "items")
    low, high = lower_bound(count, start, by), upper_bound(count, stop, by)
    removed = slice_length(low, high, by)
    if removed == 0:
        return
    if by < 0:
        low, by = low + (removed - 1) * by, -by
    for k in range(removed):  # what lies between this item and the next one moves down
        last = count if k == removed - 1 else low + (k + 1) * by
        move_down(items, low + k * by + 1, last, k + 1)
    put_field(xs, "length", count - removed)


def concatenated(xs: Any, ys: Any) -> Any:
    m, n = len(xs), len(ys)
    fresh = sized(m + n)
    target = field(fresh, "items")
    for k in range(m):
        put_at(target, k, at(field(xs, "items"), k))
    for k in range(n):
        put_at(target, m + k, at(field(ys, "items"), k))
    return fresh


def repeated(xs: Any, times: int) -> Any:
    count = len(xs)
    fresh = sized(count * max(times, 0))
    target, source = field(fresh, "items"), field(xs, "items")
    for n in range(times):
        for k in range(count):
            put_at(target, n * count + k, at(source, k))
    return fresh


def repeat_in_place(xs: Any, times: int) -> None:
    count = len(xs)
    resize(xs, count * max(times, 0))
    items = field(xs, "items")
    for n in range(1, times):
        for k in range(count):
            put_at(items, n * count + k, at(items, k))


FUNCTIONS: dict[str, Any] = {
    "pullback.reserve": reserve, "pullback.resize": resize,
    "pullback.list_extend": extend, "pullback.list_extend_sequence": extend_sequence, "pullback.list_insert": insert,
    "pullback.list_pop_last": pop_last, "pullback.list_pop": pop, "pullback.list_remove": remove,
    "pullback.list_index": index_of, "pullback.tuple_index": index_in_tuple, "pullback.list_count": count_of,
    "pullback.list_contains": contains, "pullback.list_reverse": reverse, "pullback.list_clear": clear,
    "pullback.list_copy": copy,
    "pullback.list_delete": delete_item, "pullback.as_list": as_list, "pullback.list_part": part,
    "pullback.list_slice": get_slice,
    "pullback.list_set_slice": set_slice, "pullback.list_delete_slice": delete_slice,
    "pullback.list_concatenated": concatenated, "pullback.list_repeated": repeated,
    "pullback.list_repeat_in_place": repeat_in_place,
}  # fmt: skip
