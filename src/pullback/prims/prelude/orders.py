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

from pullback.prims.prelude.intrinsics import order_bits, ruled, stop, structural, whole

__all__ = ["FUNCTIONS", "argsort_line"]

RUN = 8  # parts of this length are sorted by counting, what is left of a line by insertion
SHORT = 12  # parts that selection sorts by insertion
SAMPLED = 1500  # from this length on, the pivot is one of a sample
SAMPLE, MARGIN = 64, 5
ENOUGH = 40  # lines up to this length are sorted for a quantile
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


def _near_jvp(q: Any, primals: Any, tangents: Any) -> Any:
    (a,), (da,) = primals, tangents
    order = np.empty(len(a), np.int64)
    keys = np.empty(len(a), a.dtype)
    m = numbers_first(a, keys, order)
    order_near(keys[:m], order[:m], q)
    return a[order], da[order]


@ruled(jvp=_near_jvp, nondiff=(1,))
def in_order_near(a: Any, q: Any) -> Any:
    keys = np.empty(len(a), a.dtype)
    order_near(keys[: numbers_first(a, keys, None)], None, q)
    return keys


def near_line(a: Any, out: Any, q: Any) -> None:
    """What a quantile is made of: the elements about the fraction q of the line as in order, the others anyhow."""
    found = in_order_near(a, stop(q))
    for i in range(len(a)):
        out[i] = found[i]


def order_near(keys: Any, order: Any, q: Any) -> None:
    """Every method's places are at most two away from q * n, which is rounded in the precision of q."""
    n = len(keys)
    away = 3 + int(n * np.finfo(q.dtype).eps)
    low, high = max(int(q * n) - away, 0), min(int(q * n) + away + 1, n)
    if n > ENOUGH and low > 0:
        select(keys, order, low)
    else:
        low = 0
    if n > ENOUGH and high < n:
        select(keys[low:], part_of(order, low, n), high - low)
    else:
        high = n
    arrange_part(keys[low:high], part_of(order, low, high))


def part_of(order: Any, low: int, high: int) -> Any:
    return None if order is None else order[low:high]


def numbers_first(a: Any, keys: Any, order: Any) -> int:
    """All elements, nans behind the others, and their places; the number of those that are no nan."""
    n, nans = len(a), 0
    for k in range(n):
        x = stop(a[k])
        nans += 0 if x == x else 1
    if nans == 0:
        for k in range(n):
            keys[k] = stop(a[k])
        if order is not None:
            for k in range(n):
                order[k] = k
        return n
    first, last = 0, n - nans
    for k in range(n):
        x = stop(a[k])
        place = first if x == x else last
        keys[place] = x
        if order is not None:
            order[place] = k
        first += 1 if x == x else 0
        last += 0 if x == x else 1
    return n - nans


def arrange(keys: Any, order: Any) -> None:
    """Sort keys, and their places with them."""
    n = len(keys)
    if n >= merged(keys.dtype.itemsize):
        by_digits(keys, order)
    elif n >= RUN:
        merge_runs(keys, order)
    else:
        insert(keys, order, 0, n)


@whole
def arrange_part(keys: Any, order: Any) -> None:
    """The same, where it is one of several steps."""
    arrange(keys, order)


def merged(bytes: int) -> int:  # noqa: A002
    """From which length on digits are faster than merges, of which there is one more for each doubling: measured."""
    return bytes * bytes * bytes


# ------------------------------------------------------------------------------------------- insertion and merging


@structural
def sort_runs(keys: Any, order: Any, to_keys: Any, to_order: Any) -> None:
    """Runs of RUN elements, each sorted, and what is left."""
    n = len(keys)
    full = n - n % RUN
    counts = np.empty(RUN, np.int64)
    for low in range(0, full, RUN):
        rank(keys[low : low + RUN], counts)
        for k in range(RUN):
            to_keys[low + counts[k]] = keys[low + k]
            if order is not None:
                to_order[low + counts[k]] = order[low + k]
    for k in range(full, n):
        x, j = keys[k], k
        while j > full and x < to_keys[j - 1]:
            to_keys[j] = to_keys[j - 1]
            if order is not None:
                to_order[j] = to_order[j - 1]
            j -= 1
        to_keys[j] = x
        if order is not None:
            to_order[j] = order[k]


@structural
def rank(keys: Any, counts: Any) -> None:
    """How many of RUN elements stand before each of them: those below it, and equal ones that come earlier."""
    for k in range(RUN):
        counts[k] = k
    for j in range(RUN):
        for k in range(j + 1, RUN):
            behind = 1 if keys[k] < keys[j] else 0
            counts[j] += behind
            counts[k] -= behind


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
    sort_runs(keys, order, other_keys, other_order)
    width, away = RUN, True
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
        merge(keys, order, to_keys, to_order, low, min(low + width, n), min(low + 2 * width, n))


@structural
def merge(keys: Any, order: Any, to_keys: Any, to_order: Any, low: int, middle: int, high: int) -> None:
    """A run, and another one behind it that is no longer: from both ends, as long as neither can run out."""
    i, j, p, q = low, middle, middle - 1, high - 1
    for k in range(high - middle):
        x, y = keys[i], keys[j]
        second = y < x
        to_keys[low + k] = y if second else x
        v, w = keys[p], keys[q]
        first = w < v
        to_keys[high - 1 - k] = v if first else w
        if order is not None:
            to_order[low + k] = order[j] if second else order[i]
            to_order[high - 1 - k] = order[p] if first else order[q]
        j += 1 if second else 0
        i += 0 if second else 1
        p -= 1 if first else 0
        q -= 0 if first else 1
    for k in range(low + high - middle, middle):
        second = i > p or (j <= q and keys[j] < keys[i])
        to_keys[k] = keys[j] if second else keys[i]
        if order is not None:
            to_order[k] = order[j] if second else order[i]
        j += 1 if second else 0
        i += 0 if second else 1


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


@whole
def select(keys: Any, order: Any, k: int) -> None:
    """Put the k-th in its place (C. A. R. Hoare's Find): of a part, those below a pivot come first."""
    low, high, tries = 0, len(keys), 0
    spare, spare_order = np.empty(high, keys.dtype), spare_of(order)
    while high - low > SHORT:
        if tries == TRIES:
            arrange_part(keys[low:high], part_of(order, low, high))
            return
        tries += 1
        pivot = middle_of(keys, low, high) if high - low < SAMPLED else beyond(keys, low, high, k)
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


def beyond(keys: Any, low: int, high: int, k: int) -> Any:
    """From a sample, a number that the k-th is probably a little below or above, so that it is in the smaller part
    (R. W. Floyd and R. L. Rivest, "Expected time bounds for selection", 1975)."""
    sample, step = np.empty(SAMPLE, keys.dtype), (high - low) // SAMPLE
    for i in range(SAMPLE):
        sample[i] = keys[low + step * i + step // 2]
    arrange_part(sample, None)
    place = (k - low) * SAMPLE // (high - low)
    place = place + MARGIN if 2 * place < SAMPLE else place - MARGIN
    return sample[min(max(place, 0), SAMPLE - 1)]


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
    f"pullback.{f.__name__}": f for f in (sort_line, argsort_line, partition_line, argpartition_line, near_line)
}
