"""Searching, sorting by several keys, and sets: what rests on the orders of `prelude.orders`.

    search_left(a, x)             how many elements of a sorted line are less than x
    unique_places(a, order)       where the runs of equal elements begin, in the order of `order`

Keys are compared without derivative; elements are taken through their places, and so have their derivatives.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pullback.prims.prelude.intrinsics import stop, structural
from pullback.prims.prelude.orders import argsort_line

__all__ = ["FUNCTIONS"]


def lexsort_step(key: Any, order: Any) -> Any:
    """The order, sorted by a further key."""
    n = len(order)
    if len(key) != n:
        raise ValueError("all keys need to be the same shape")
    taken, places, result = np.empty(n, key.dtype), np.empty(n, np.int64), np.empty(n, np.int64)
    for k in range(n):
        taken[k] = stop(key[order[k]])
    argsort_line(taken, places)
    for k in range(n):
        result[k] = order[places[k]]
    return result


def lexsort_rows(keys: Any, order: Any) -> Any:
    for key in keys:
        order = lexsort_step(key, order)
    return order


def complex_order(re: Any, im: Any) -> Any:
    n = len(re)
    kind = np.empty(n, np.int64)
    for k in range(n):
        kind[k] = (0 if re[k] == re[k] else 2) + (0 if im[k] == im[k] else 1)
    return lexsort_step(kind, lexsort_step(re, sorted_order(im)))


def complex_argsort_columns(re: Any, im: Any, out: Any) -> None:
    for i in range(re.shape[0]):
        for j in range(re.shape[2]):
            order = complex_order(re[i, :, j], im[i, :, j])
            for k in range(len(order)):
                out[i, k, j] = order[k]


def complex_sort_columns(re: Any, im: Any, re_out: Any, im_out: Any) -> None:
    for i in range(re.shape[0]):
        for j in range(re.shape[2]):
            order = complex_order(re[i, :, j], im[i, :, j])
            for k in range(len(order)):
                re_out[i, k, j] = re[i, order[k], j]
                im_out[i, k, j] = im[i, order[k], j]


@structural
def complex_ranks(re: Any, im: Any, as_sorted: bool, first: int) -> Any:
    """Ranks of complex numbers, the same for equal ones.

    as_sorted: numbers with nans have the same where they sort alike; else all before `first`, and all after it.
    """
    n, rank = len(re), -1
    order, out = complex_order(re, im), np.empty(len(re), np.int64)
    for k in range(n):
        i = order[k]
        if not as_sorted and (re[i] != re[i] or im[i] != im[i]):
            out[i] = n if i < first else n + 1  # above all others
        else:
            if k == 0 or not (sort_alike(re[order[k - 1]], re[i]) and sort_alike(im[order[k - 1]], im[i])):
                rank += 1
            out[i] = rank
    return out


@structural
def sort_alike(x: Any, y: Any) -> bool:
    return bool(x == y or (x != x and y != y))


@structural
def first_of_ranks(ranks: Any) -> Any:
    """Where each rank comes first."""
    out = np.zeros(len(ranks) + 2, np.int64)
    for k in range(len(ranks) - 1, -1, -1):
        out[ranks[k]] = k
    return out


# ------------------------------------------------------------------------------------------------------ searching


@structural
def search_left(a: Any, x: Any) -> int:
    low, high = 0, len(a)
    while low < high:
        middle = (low + high) // 2
        y = a[middle]
        if y < x or (x != x and y == y):
            low = middle + 1
        else:
            high = middle
    return low


@structural
def search_right(a: Any, x: Any) -> int:
    low, high = 0, len(a)
    while low < high:
        middle = (low + high) // 2
        y = a[middle]
        if x < y or (y != y and x == x):
            high = middle
        else:
            low = middle + 1
    return low


def search_all_left(a: Any, v: Any, out: Any) -> Any:
    for k in range(len(v)):
        out[k] = search_left(a, v[k])
    return out


def search_all_right(a: Any, v: Any, out: Any) -> Any:
    for k in range(len(v)):
        out[k] = search_right(a, v[k])
    return out


def direction(bins: Any) -> int:
    """1 of bins that never fall, -1 of bins that never rise, else a ValueError; nan is not looked at."""
    n, k = len(bins), 1
    while k < n and bins[k] == bins[0]:
        k += 1
    rising = k >= n or bins[k - 1] < bins[k]
    while k < n:
        if (bins[k - 1] > bins[k]) if rising else (bins[k - 1] < bins[k]):
            raise ValueError("bins must be monotonically increasing or decreasing")
        k += 1
    return 1 if rising else -1


def digitize_left(x: Any, bins: Any, out: Any) -> Any:
    n = len(bins)
    if direction(bins) > 0:
        return search_all_left(bins, x, out)
    for k in range(len(x)):
        out[k] = n - search_left(bins[::-1], x[k])
    return out


def digitize_right(x: Any, bins: Any, out: Any) -> Any:
    n = len(bins)
    if direction(bins) > 0:
        return search_all_right(bins, x, out)
    for k in range(len(x)):
        out[k] = n - search_right(bins[::-1], x[k])
    return out


# ------------------------------------------------------------------------------------------------- without repetitions


def run_starts(a: Any, order: Any, join_nan: bool) -> Any:
    """Where in the order the runs of equal elements begin, and the length at the end."""
    n, m = len(a), 0
    for k in range(n):
        if begins_run(a, order, k, join_nan):
            m += 1
    starts = np.empty(m + 1, np.int64)
    m = 0
    for k in range(n):
        if begins_run(a, order, k, join_nan):
            starts[m] = k
            m += 1
    starts[m] = n
    return starts


def begins_run(a: Any, order: Any, k: int, join_nan: bool) -> bool:
    if k == 0:
        return True
    x, y = a[order[k - 1]], a[order[k]]
    return bool(x != y and not (join_nan and x != x and y != y))


def sorted_order(a: Any) -> Any:
    order = np.empty(len(a), np.int64)
    argsort_line(a, order)
    return order


def order_of_rows(table: Any) -> Any:
    """The order in which rows go up: sorted by the last column, then, stably, by each before it."""
    order = np.arange(len(table))
    for j in range(table.shape[1] - 1, -1, -1):
        order = order[np.argsort(table[order, j], kind="stable")]
    return order


def starts_of_rows(table: Any, order: Any) -> Any:
    """As `run_starts`, of rows; a row with a nan is equal to none."""
    n, m = len(table), 0
    starts = np.empty(n + 1, np.int64)
    for k in range(n):
        if k == 0 or rows_differ(table, order[k - 1], order[k]):
            starts[m] = k
            m += 1
    starts[m] = n
    return starts[: m + 1].copy()


def rows_differ(table: Any, i: int, k: int) -> bool:
    for j in range(table.shape[1]):
        if table[i, j] != table[k, j]:
            return True
    return False


def complex_run_starts(re: Any, im: Any, order: Any, join_nan: bool) -> Any:
    """As `run_starts`, of complex numbers; join_nan: all with a nan are one run."""
    n, m = len(re), 0
    starts = np.empty(n + 1, np.int64)
    for k in range(n):
        if k > 0:
            p, q = order[k - 1], order[k]
            unknown = re[p] != re[p] or im[p] != im[p]  # and so is what comes after it
            if (unknown and join_nan) or (re[p] == re[q] and im[p] == im[q]):
                continue
        starts[m] = k
        m += 1
    starts[m] = n
    return starts[: m + 1].copy()


def first_of_runs(order: Any, starts: Any) -> Any:
    out = np.empty(len(starts) - 1, np.int64)
    for k in range(len(out)):
        out[k] = order[starts[k]]
    return out


def lengths_of_runs(starts: Any) -> Any:
    out = np.empty(len(starts) - 1, np.int64)
    for k in range(len(out)):
        out[k] = starts[k + 1] - starts[k]
    return out


def run_numbers(order: Any, starts: Any) -> Any:
    """For each element, the number of its run."""
    out = np.empty(len(order), np.int64)
    for run in range(len(starts) - 1):
        for k in range(starts[run], starts[run + 1]):
            out[order[k]] = run
    return out


def distinct(a: Any) -> Any:
    """The elements in order, each once."""
    order = sorted_order(a)
    return a[first_of_runs(order, run_starts(a, order, True))]


def union1d(a: Any, b: Any) -> Any:
    return distinct(np.concatenate((a, b)))


def contained(a: Any, values: Any, inverted: bool) -> Any:
    """For each element, is it among the values."""
    known = distinct(values)
    out = np.empty(len(a), np.bool_)
    for k in range(len(a)):
        place = search_left(known, a[k])
        found = place < len(known) and known[min(place, len(known) - 1)] == a[k] if len(known) > 0 else False
        out[k] = found != inverted
    return out


def setdiff1d(a: Any, b: Any) -> Any:
    first = distinct(a)
    return first[contained(first, b, True)]


def setxor1d(a: Any, b: Any) -> Any:
    first, second = distinct(a), distinct(b)
    return distinct(np.concatenate((first[contained(first, second, True)], second[contained(second, first, True)])))


def intersection(a: Any, b: Any) -> Any:
    """The common elements' places in a and b, in the order of the elements."""
    first, second = sorted_order(a), sorted_order(b)
    places = first_of_runs(first, run_starts(a, first, True))
    others = first_of_runs(second, run_starts(b, second, True))
    n = 0
    for place in places:
        n += 1 if has(b, others, a[place]) else 0
    left, right = np.empty(n, np.int64), np.empty(n, np.int64)
    n = 0
    for place in places:
        if has(b, others, a[place]):
            left[n] = place
            right[n] = others[find(b, others, a[place])]
            n += 1
    return left, right


def find(b: Any, order: Any, x: Any) -> int:
    low, high = 0, len(order)
    while low < high:
        middle = (low + high) // 2
        y = b[order[middle]]
        if y < x or (x != x and y == y):
            low = middle + 1
        else:
            high = middle
    return low


def has(b: Any, order: Any, x: Any) -> bool:
    place = find(b, order, x)
    return bool(place < len(order) and b[order[place]] == x)


FUNCTIONS: dict[str, Any] = {
    f"pullback.{f.__name__}": f
    for f in (
        lexsort_step, lexsort_rows,
        complex_argsort_columns, complex_sort_columns, complex_order, complex_ranks, complex_run_starts,
        first_of_ranks, search_left,
        search_right, search_all_left, search_all_right, digitize_left, digitize_right, run_starts, sorted_order,
        order_of_rows, starts_of_rows, first_of_runs, lengths_of_runs, run_numbers, distinct, union1d, contained,
        setdiff1d, setxor1d, intersection,
    )
}  # fmt: skip
