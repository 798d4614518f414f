"""Lines of numbers in order: by insertion, by merging, and long ones by their digits; selection of one place.

    sort_line(a, out)               the elements in order, nan last, equal ones as they come
    argsort_line(a, out)            the places of the elements in that order
    partition_line(a, out, k)       the k-th of them at its place, no larger ones before it, no smaller ones behind it

Keys are moved without derivative, alone or with their places; the derivative takes its elements through the places.
Both come from the same moves, so values are the same with a derivative and without.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pullback.prims.prelude.intrinsics import order_bits, ruled, stop, structural

__all__ = ["FUNCTIONS", "argsort_line"]

RUN = 12  # lines up to this length, and parts of longer ones, are sorted by insertion
MERGED = 256  # and up to this one by merging
TRIES = 64  # parts that selection looks at before it sorts the rest


# ---------------------------------------------------------------------------------------------------------- lines


def _sorted_jvp(primals: Any, tangents: Any) -> Any:
    (a,), (da,) = primals, tangents
    order = np.empty(len(a), np.int64)
    argsort_line(a, order)
    return a[order], da[order]


@ruled(jvp=_sorted_jvp)
def in_order(a: Any) -> Any:
    keys = np.empty(len(a), a.dtype)
    arrange(keys[: numbers_first(a, keys, None)], None)
    return keys


def sort_line(a: Any, out: Any) -> None:
    found = in_order(a)
    for k in range(len(a)):
        out[k] = found[k]


def argsort_line(a: Any, out: Any) -> None:
    keys = np.empty(len(a), a.dtype)
    m = numbers_first(a, keys, out)
    arrange(keys[:m], out[:m])


def _partitioned_jvp(k: Any, primals: Any, tangents: Any) -> Any:
    (a,), (da,) = primals, tangents
    order = np.empty(len(a), np.int64)
    argpartition_line(a, order, k)
    return a[order], da[order]


@ruled(jvp=_partitioned_jvp, nondiff=(1,))
def partitioned(a: Any, k: Any) -> Any:
    keys = np.empty(len(a), a.dtype)
    select(keys[: numbers_first(a, keys, None)], None, k)
    return keys


def partition_line(a: Any, out: Any, k: Any) -> None:
    found = partitioned(a, k if k >= 0 else k + len(a))
    for i in range(len(a)):
        out[i] = found[i]


def argpartition_line(a: Any, out: Any, k: Any) -> None:
    keys = np.empty(len(a), a.dtype)
    m = numbers_first(a, keys, out)
    select(keys[:m], out[:m], k if k >= 0 else k + len(a))


def numbers_first(a: Any, keys: Any, order: Any) -> int:
    """All elements, nans behind the others, and their places; the number of those that are no nan."""
    n, m = len(a), 0
    for k in range(n):
        x = stop(a[k])
        if x == x:
            keys[m] = x
            if order is not None:
                order[m] = k
            m += 1
    if m < n:
        last = m
        for k in range(n):
            x = stop(a[k])
            if x != x:
                keys[last] = x
                if order is not None:
                    order[last] = k
                last += 1
    return m


def arrange(keys: Any, order: Any) -> None:
    """Sort keys, and their places with them."""
    n = len(keys)
    if n >= MERGED:
        by_digits(keys, order)
        return
    insert_runs(keys, order)
    if n > RUN:
        merge_runs(keys, order)


# ------------------------------------------------------------------------------------------- insertion and merging


@structural
def insert_runs(keys: Any, order: Any) -> None:
    n = len(keys)
    for low in range(0, n, RUN):
        insert(keys, order, low, min(low + RUN, n))


@structural
def insert(keys: Any, order: Any, low: int, high: int) -> None:
    for i in range(low + 1, high):
        x = keys[i]
        place = i if order is None else order[i]
        j = i
        while j > low and x < keys[j - 1]:
            keys[j] = keys[j - 1]
            if order is not None:
                order[j] = order[j - 1]
            j -= 1
        keys[j] = x
        if order is not None:
            order[j] = place


def merge_runs(keys: Any, order: Any) -> None:
    n = len(keys)
    other_keys, other_order = np.empty(n, keys.dtype), spare_of(order)
    width, away = RUN, False
    while width < n:
        if away:
            merge_pairs(other_keys, other_order, keys, order, width)
        else:
            merge_pairs(keys, order, other_keys, other_order, width)
        away = not away
        width *= 2
    if away:
        copy_pairs(other_keys, other_order, keys, order)


def spare_of(order: Any) -> Any:
    return None if order is None else np.empty(len(order), np.int64)


@structural
def copy_pairs(keys: Any, order: Any, to_keys: Any, to_order: Any) -> None:
    for k in range(len(keys)):
        to_keys[k] = keys[k]
    if order is not None:
        for k in range(len(keys)):
            to_order[k] = order[k]


@structural
def merge_pairs(keys: Any, order: Any, to_keys: Any, to_order: Any, width: int) -> None:
    n = len(keys)
    for low in range(0, n, 2 * width):
        middle, high = min(low + width, n), min(low + 2 * width, n)
        i, j = low, middle
        for k in range(low, high):
            if i < middle and (j >= high or not keys[j] < keys[i]):
                to_keys[k] = keys[i]
                if order is not None:
                    to_order[k] = order[i]
                i += 1
            else:
                to_keys[k] = keys[j]
                if order is not None:
                    to_order[k] = order[j]
                j += 1


# ---------------------------------------------------------------------------------------------------------- digits


def by_digits(keys: Any, order: Any) -> None:
    """The lowest digits first, each pass keeping the order of the one before (H. H. Goldberg's radix sort)."""
    n, passes, away = len(keys), keys.dtype.itemsize, False
    other_keys, other_order = np.empty(n, keys.dtype), spare_of(order)
    counts = np.zeros((passes, 256), np.int64)
    count_digits(keys, counts)
    for p in range(passes):
        starts = counts[p]
        if starts[digit(keys[0], 8 * p)] == n:
            continue
        to_starts(starts)
        if away:
            spread(other_keys, other_order, keys, order, starts, 8 * p)
        else:
            spread(keys, order, other_keys, other_order, starts, 8 * p)
        away = not away
    if away:
        copy_pairs(other_keys, other_order, keys, order)


@structural
def digit(x: Any, low: int) -> Any:
    return np.int64((order_bits(x) >> np.uint64(low)) & np.uint64(255))


@structural
def count_digits(keys: Any, counts: Any) -> None:
    for x in keys:
        for p in range(keys.dtype.itemsize):
            counts[p, digit(x, 8 * p)] += 1


@structural
def to_starts(counts: Any) -> None:
    total = 0
    for k in range(len(counts)):
        count = counts[k]
        counts[k] = total
        total += count


@structural
def spread(keys: Any, order: Any, to_keys: Any, to_order: Any, starts: Any, low: int) -> None:
    for k in range(len(keys)):
        d = digit(keys[k], low)
        place = starts[d]
        to_keys[place] = keys[k]
        if order is not None:
            to_order[place] = order[k]
        starts[d] = place + 1


# ------------------------------------------------------------------------------------------------------- selection


def select(keys: Any, order: Any, k: int) -> None:
    """Put the k-th in its place (C. A. R. Hoare's Find): of a part, those below a pivot come first."""
    low, high, tries = 0, len(keys), 0
    spare, spare_order = np.empty(high, keys.dtype), spare_of(order)
    while high - low > RUN:
        if tries == TRIES:
            arrange(keys[low:high], None if order is None else order[low:high])
            return
        tries += 1
        pivot = middle_of(keys, low, high)
        middle = divide(keys, order, spare, spare_order, low, high, pivot, False)
        if middle == low:  # nothing is below the pivot: those equal to it
            middle = divide(keys, order, spare, spare_order, low, high, pivot, True)
            if k < middle:
                return
        if k < middle:
            high = middle
        else:
            low = middle
    insert(keys, order, low, high)


@structural
def middle_of(keys: Any, low: int, high: int) -> Any:
    step = (high - low) // 4
    x, y, z = keys[low + step], keys[low + 2 * step], keys[low + 3 * step]
    if y < x:
        x, y = y, x
    return x if z < x else z if z < y else y


@structural
def divide(keys: Any, order: Any, spare: Any, spare_order: Any, low: int, high: int, pivot: Any, equal: bool) -> int:
    """Those below the pivot first, or those not above it, all in the order they came; where the rest begins."""
    to, rest = low, 0
    for i in range(low, high):
        x = keys[i]
        first = not pivot < x if equal else x < pivot
        keys[to] = x
        spare[rest] = x
        if order is not None:
            place = order[i]
            order[to] = place
            spare_order[rest] = place
        to += 1 if first else 0
        rest += 0 if first else 1
    for i in range(rest):
        keys[to + i] = spare[i]
        if order is not None:
            order[to + i] = spare_order[i]
    return to


FUNCTIONS: dict[str, Any] = {
    f"pullback.{f.__name__}": f for f in (sort_line, argsort_line, partition_line, argpartition_line)
}
