"""heapq, bisect and collections.deque, in the accepted Python."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pullback.prims.prelude.intrinsics import at, copy_row, field, put_at, put_field, row, rows, structural

__all__ = ["FUNCTIONS"]

# ---------------------------------------------------------------------------------------------------------- heapq


def heappush(heap: Any, item: Any) -> None:
    heap.append(item)
    sift_down(heap, 0, len(heap) - 1)


def heappop(heap: Any) -> Any:
    if len(heap) == 0:
        raise IndexError("index out of range")
    last = heap.pop()
    if len(heap) == 0:
        return last
    item = heap[0]
    heap[0] = last
    sift_up(heap, 0)
    return item


def heapreplace(heap: Any, item: Any) -> Any:
    first = heap[0]
    heap[0] = item
    sift_up(heap, 0)
    return first


def heappushpop(heap: Any, item: Any) -> Any:
    if len(heap) > 0 and heap[0] < item:
        return heapreplace(heap, item)
    return item


def heapify(heap: Any) -> None:
    for k in range(len(heap) // 2):
        sift_up(heap, len(heap) // 2 - 1 - k)


def sift_down(heap: Any, start: int, place: int) -> None:
    """Move an item towards the root until its parent is not larger."""
    item = heap[place]
    while place > start:
        parent = (place - 1) // 2
        if not item < heap[parent]:
            break
        heap[place] = heap[parent]
        place = parent
    heap[place] = item


def sift_up(heap: Any, place: int) -> None:
    """Move the smaller child up until a leaf is reached, then the item from there to where it belongs."""
    end, start, item = len(heap), place, heap[place]
    child = 2 * place + 1
    while child < end:
        right = child + 1
        if right < end and not heap[child] < heap[right]:
            child = right
        heap[place] = heap[child]
        place = child
        child = 2 * place + 1
    heap[place] = item
    sift_down(heap, start, place)


def nsmallest(n: int, iterable: Any, key: Any = None) -> Any:
    return sorted(iterable, key=key)[: max(n, 0)]


def nlargest(n: int, iterable: Any, key: Any = None) -> Any:
    return sorted(iterable, key=key, reverse=True)[: max(n, 0)]


def merge(*iterables: Any, key: Any = None, reverse: bool = False) -> Iterator[Any]:
    """The smallest of the first items that are left, the earlier iterable first."""
    rows = [list(iterable) for iterable in iterables]
    places = [0] * len(rows)
    while (k := row_of_next(rows, places, key, reverse)) >= 0:
        places[k] += 1
        yield rows[k][places[k] - 1]


def merge_of(iterables: Any) -> Iterator[Any]:
    """merge(*iterables), of a list of them."""
    rows = [list(iterable) for iterable in iterables]
    places = [0] * len(rows)
    while (k := row_of_next(rows, places, None, False)) >= 0:
        places[k] += 1
        yield rows[k][places[k] - 1]


def row_of_next(rows: Any, places: Any, key: Any, reverse: bool) -> int:
    """The row whose first item that is left comes before the others; -1 if none is left."""
    best = -1
    for k in range(len(rows)):
        if places[k] < len(rows[k]) and (best < 0 or stands_before(rows, places, k, best, key, reverse)):
            best = k
    return best


def stands_before(rows: Any, places: Any, k: int, best: int, key: Any, reverse: bool) -> Any:
    """Does the first item left of row k come before that of another."""
    x, y = rows[k][places[k]], rows[best][places[best]]
    if key is not None:
        return key(y) < key(x) if reverse else key(x) < key(y)
    return y < x if reverse else x < y


# --------------------------------------------------------------------------------------------------------- bisect


def bisect_left(a: Any, x: Any, lo: int = 0, hi: Any = None, *, key: Any = None) -> Any:
    low, high = bounds(a, lo, hi)
    while low < high:
        middle = (low + high) // 2
        if (a[middle] if key is None else key(a[middle])) < x:
            low = middle + 1
        else:
            high = middle
    return low


def bisect_right(a: Any, x: Any, lo: int = 0, hi: Any = None, *, key: Any = None) -> Any:
    low, high = bounds(a, lo, hi)
    while low < high:
        middle = (low + high) // 2
        if x < (a[middle] if key is None else key(a[middle])):
            high = middle
        else:
            low = middle + 1
    return low


def bounds(a: Any, lo: int, hi: Any) -> Any:
    if lo < 0:
        raise ValueError("lo must be non-negative")
    return lo, len(a) if hi is None else hi


def insort_left(a: Any, x: Any, lo: int = 0, hi: Any = None, *, key: Any = None) -> None:
    a.insert(bisect_left(a, x if key is None else key(x), lo, hi, key=key), x)


def insort_right(a: Any, x: Any, lo: int = 0, hi: Any = None, *, key: Any = None) -> None:
    a.insert(bisect_right(a, x if key is None else key(x), lo, hi, key=key), x)


# ---------------------------------------------------------------------------------------------------------- deque


@structural
def make_front(d: Any, wanted: int) -> None:
    """Room before the first item."""
    count, before = field(d, "length"), field(d, "items")
    after = row(rows(before, 2 * wanted + count), wanted)
    for k in range(count):
        copy_row(row(after, k), row(before, k))
    put_field(d, "items", after)
    put_field(d, "front", wanted)
    put_field(d, "capacity", count + wanted)


def appendleft(d: Any, item: Any) -> None:
    if field(d, "front") == 0:
        make_front(d, len(d) + 4)
    put_field(d, "front", field(d, "front") - 1)
    put_field(d, "items", row(field(d, "items"), -1))
    put_field(d, "length", len(d) + 1)
    put_field(d, "capacity", field(d, "capacity") + 1)
    put_at(field(d, "items"), 0, item)
    if field(d, "most") >= 0 and len(d) > field(d, "most"):
        put_field(d, "length", field(d, "most"))


def append(d: Any, item: Any) -> None:
    if field(d, "most") == 0:
        return
    if field(d, "most") == len(d):
        popleft(d)
    d.append_item(item)


def popleft(d: Any) -> Any:
    count = len(d)
    if count == 0:
        raise IndexError("pop from an empty deque")
    item = at(field(d, "items"), 0)
    put_field(d, "items", row(field(d, "items"), 1))
    put_field(d, "front", field(d, "front") + 1)
    put_field(d, "capacity", field(d, "capacity") - 1)
    put_field(d, "length", count - 1)
    return item


def pop(d: Any) -> Any:
    count = len(d)
    if count == 0:
        raise IndexError("pop from an empty deque")
    put_field(d, "length", count - 1)
    return at(field(d, "items"), count - 1)


def extend(d: Any, iterable: Any) -> None:
    for item in iterable:
        append(d, item)


def extendleft(d: Any, iterable: Any) -> None:
    for item in iterable:
        appendleft(d, item)


def rotate(d: Any, n: int = 1) -> None:
    if len(d) == 0:
        return
    for _ in range(n % len(d)):
        appendleft(d, pop(d))



FUNCTIONS: dict[str, Any] = {
    **{f"heapq.{f.__name__}": f for f in (
        heappush, heappop, heapreplace, heappushpop, heapify, nsmallest, nlargest, merge)},
    "pullback.merge_of": merge_of,
    **{f"bisect.{f.__name__}": f for f in (bisect_left, bisect_right, insort_left, insort_right)},
    **{f"deque.{f.__name__}": f for f in (append, appendleft, popleft, pop, extend, extendleft, rotate)},
}  # fmt: skip
