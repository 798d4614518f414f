"""Sorting and comparing lists and tuples of run-time length, and arrays of what they hold, in the accepted Python."""

from __future__ import annotations

from typing import Any

from pullback.prims.prelude.intrinsics import at, before, field, put_at, put_field, sized
from pullback.prims.prelude.lists import copy

__all__ = ["FUNCTIONS"]


def sort(xs: Any, keys: Any, reverse: bool) -> None:
    """Put the items in the order of their keys; equal ones keep theirs."""
    order = sorted_places(keys, reverse)
    before, items = field(copy(xs), "items"), field(xs, "items")
    for k in range(len(order)):
        put_at(items, k, at(before, at(field(order, "items"), k)))


def sorted_places(keys: Any, reverse: bool) -> Any:
    """The places of the keys in their order: merges of runs of 1, 2, 4, ..."""
    count = len(keys)
    order, other = places(count), places(count)
    source, target, key = field(order, "items"), field(other, "items"), field(keys, "items")
    width = 1
    while width < count:
        for pair in range((count + 2 * width - 1) // (2 * width)):
            low = 2 * width * pair
            middle, high = min(low + width, count), min(low + 2 * width, count)
            i, j = low, middle
            for k in range(low, high):
                if i < middle and (j >= high or not first(at(key, at(source, j)), at(key, at(source, i)), reverse)):
                    put_at(target, k, at(source, i))
                    i += 1
                else:
                    put_at(target, k, at(source, j))
                    j += 1
        source, target = target, source
        width *= 2
    put_field(order, "items", source)
    return order


def places(count: int) -> Any:
    """0, 1, ..., count-1"""
    fresh = sized(count)
    for k in range(count):
        put_at(field(fresh, "items"), k, k)
    return fresh


def first(x: Any, y: Any, reverse: bool) -> Any:
    """Must x stand before y, which stood before it."""
    return y < x if reverse else x < y


def keys_of(xs: Any, key: Any) -> Any:
    count = len(xs)
    fresh = sized(count)
    for k in range(count):
        put_at(field(fresh, "items"), k, key(at(field(xs, "items"), k)))
    return fresh


def equal(xs: Any, ys: Any) -> bool:
    if len(xs) != len(ys):
        return False
    for k in range(len(xs)):
        if xs[k] != ys[k]:
            return False
    return True


def less(xs: Any, ys: Any, last: bool) -> Any:
    """The first items that differ decide; `last`: does it hold for equal lists."""
    for k in range(min(len(xs), len(ys))):
        if xs[k] != ys[k]:
            return xs[k] < ys[k]
    return len(xs) <= len(ys) if last else len(xs) < len(ys)


def record_equal(xs: Any, ys: Any) -> bool:
    """== of tuples with items of their own."""
    if len(xs) != len(ys):
        return False
    for x, y in zip(xs, ys, strict=False):
        if x != y:
            return False
    return True


def record_less(xs: Any, ys: Any, last: bool) -> Any:
    for x, y in zip(xs, ys, strict=False):
        if x != y:
            return before(x, y, last)
    return len(xs) <= len(ys) if last else len(xs) < len(ys)


# --------------------------------------------------------------------------------------------------------- arrays


def fill_from(array: Any, xs: Any) -> Any:
    """The array of the numbers of a list of numbers."""
    for k in range(len(xs)):
        array[k] = xs[k]
    return array


def fill_rows(array: Any, held: Any) -> Any:
    """The array of the numbers of a list of rows, which have one shape."""
    for k in range(len(held)):
        if len(held[k]) != array.shape[1]:
            raise ValueError("setting an array element with a sequence. The requested array has an inhomogeneous shape")
        array[k] = held[k]
    return array


def total_first(held: Any) -> Any:
    total = 0
    for array in held:
        total += len(array)
    return total


def total_second(held: Any) -> Any:
    total = 0
    for array in held:
        total += array.shape[1]
    return total


def total_last(held: Any) -> Any:
    total = 0
    for array in held:
        total += array.shape[-1]
    return total


def fill_first(out: Any, held: Any) -> Any:
    """The arrays of a list one after the other."""
    k = 0
    for array in held:
        out[k : k + len(array)] = array
        k += len(array)
    return out


def fill_second(out: Any, held: Any) -> Any:
    k = 0
    for array in held:
        out[:, k : k + array.shape[1]] = array
        k += array.shape[1]
    return out


def fill_last(out: Any, held: Any) -> Any:
    k = 0
    for array in held:
        out[..., k : k + array.shape[-1]] = array
        k += array.shape[-1]
    return out


FUNCTIONS: dict[str, Any] = {
    "pullback.list_sort": sort, "pullback.list_keys": keys_of,
    "pullback.list_equal": equal, "pullback.list_less": less, "pullback.record_equal": record_equal,
    "pullback.record_less": record_less, "pullback.fill_from": fill_from, "pullback.fill_rows": fill_rows,
    "pullback.total_first": total_first, "pullback.total_second": total_second, "pullback.total_last": total_last,
    "pullback.fill_first": fill_first, "pullback.fill_second": fill_second, "pullback.fill_last": fill_last,
}  # fmt: skip
