"""Arrays repeated, padded, with parts put in and taken out.  The axis that is meant is the first one here.

    pad_edge(o, before, after)      o[0] = ... = o[before]; the inside of o is set already
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["FUNCTIONS"]


def repeat_total(counts: Any) -> Any:
    total = np.int64(0)
    for count in counts:
        if count < 0:
            raise ValueError("repeats may not contain negative values.")
        total += count
    return total


def repeat_rows(a: Any, counts: Any, out: Any) -> Any:
    """Row k of the array counts[k] times."""
    j = 0
    for k in range(len(a)):
        for _ in range(counts[k]):
            out[j] = a[k]
            j += 1
    return out


def resize(a: Any, out: Any) -> Any:
    """The elements of a row over and over again."""
    n = len(a)
    k = 0
    for j in range(len(out)):
        out[j] = a[k]
        k = k + 1 if k + 1 < n else 0
    return out


# -------------------------------------------------------------------------------------------------------- padding


def pad_constant(o: Any, before: int, after: int, first: Any, last: Any) -> None:
    o[:before] = first
    o[len(o) - after :] = last


def pad_edge(o: Any, before: int, after: int) -> None:
    end = len(o) - after
    for k in range(before):
        o[k] = o[before]
    for k in range(end, len(o)):
        o[k] = o[end - 1]


def pad_wrap(o: Any, before: int, after: int) -> None:
    n = len(o) - before - after
    for k in range(before):
        o[k] = o[before + (k - before) % n]
    for k in range(before + n, len(o)):
        o[k] = o[before + (k - before) % n]


def mirrored(i: int, n: int, repeats: bool) -> int:
    """The place inside 0..n-1 that mirrors to i; `repeats`: the edge stands on both sides of the mirror."""
    if n == 1:
        return 0
    period = 2 * n if repeats else 2 * (n - 1)
    i = i % period
    if i < n:
        return i
    return period - 1 - i if repeats else period - i


def pad_mirror(o: Any, before: int, after: int, repeats: bool) -> None:
    n = len(o) - before - after
    for k in range(before):
        o[k] = o[before + mirrored(k - before, n, repeats)]
    for k in range(before + n, len(o)):
        o[k] = o[before + mirrored(k - before, n, repeats)]


def pad_odd(o: Any, before: int, after: int, repeats: bool) -> None:
    """The mirror image turned about the edge: each period further out lies twice the rise of the inside higher."""
    n = len(o) - before - after
    low, high = before, before + n - 1
    period = 2 * n if repeats else 2 * (n - 1)
    for k in range(len(o)):
        if (k < low or k > high) and n == 1:
            o[k] = o[low]
        elif k < low or k > high:
            i = (k - before) % period
            turns = (k - before) // period
            image = before + mirrored(k - before, n, repeats)
            if i < n:
                o[k] = o[image] + 2 * turns * (o[high] - o[low])
            else:
                o[k] = 2 * o[high] - o[image] + 2 * turns * (o[high] - o[low])


def pad_ramp(o: Any, before: int, after: int, first: Any, last: Any, whole: bool) -> None:
    """Straight lines from the edges to the end values; in ints (whole) rounded down."""
    end = len(o) - after
    for k in range(before):
        o[k] = on_line(first, o[before], k, before, whole)
    for k in range(after):
        o[len(o) - 1 - k] = on_line(last, o[end - 1], k, after, whole)


def on_line(start: Any, stop: Any, k: int, parts: int, whole: bool) -> Any:
    value = start + k * ((stop - start) / parts)
    return np.floor(value) if whole else value


def pad_max(o: Any, before: int, after: int, first: int, last: int) -> None:
    end = len(o) - after
    o[:before] = np.max(o[before : before + first], axis=0)
    o[end:] = np.max(o[end - last : end], axis=0)


def pad_min(o: Any, before: int, after: int, first: int, last: int) -> None:
    end = len(o) - after
    o[:before] = np.min(o[before : before + first], axis=0)
    o[end:] = np.min(o[end - last : end], axis=0)


def pad_mean(o: Any, before: int, after: int, first: int, last: int, whole: bool) -> None:
    end = len(o) - after
    low = np.mean(o[before : before + first], axis=0)
    high = np.mean(o[end - last : end], axis=0)
    o[:before] = np.rint(low) if whole else low
    o[end:] = np.rint(high) if whole else high


def pad_median(o: Any, before: int, after: int, first: int, last: int, whole: bool) -> None:
    end = len(o) - after
    low = np.median(o[before : before + first], axis=0)
    high = np.median(o[end - last : end], axis=0)
    o[:before] = np.rint(low) if whole else low
    o[end:] = np.rint(high) if whole else high


# ------------------------------------------------------------------------------------------------ put in, taken out


def insert_rows(a: Any, index: Any, values: Any, out: Any) -> Any:
    """Each row of `values` before the row of `a` that its index names; those of one index in their order."""
    n = len(a)
    place = np.zeros(n + 2, np.int64)
    for i in index:
        place[(i if i >= 0 else i + n) + 1] += 1
    for k in range(n):
        place[k + 1] += place[k]
        out[k + place[k + 1]] = a[k]
    for j in range(len(index)):
        i = index[j] if index[j] >= 0 else index[j] + n
        out[i + place[i]] = values[j]
        place[i] += 1
    return out


def delete_rows(a: Any, index: Any) -> Any:
    keep = np.ones(len(a), np.bool_)
    keep[index] = False
    return a[keep]


def first_nonzero(a: Any) -> int:
    for k in range(len(a)):
        if a[k] != 0:
            return k
    return len(a)


def after_nonzero(a: Any) -> int:
    for k in range(len(a), 0, -1):
        if a[k - 1] != 0:
            return k
    return 0


# ----------------------------------------------------------------------------------------------- methods of ufuncs


def fold(function: Any, a: Any, out: Any, whole: bool) -> None:
    """The rows folded into `out`, which holds the start if the whole array is folded; else the first row is it."""
    start = 0
    if not whole:
        start = 1
        if len(a) > 0:
            out[...] = a[0]
    for k in range(start, len(a)):
        out[...] = function(out, a[k])


def accumulate(function: Any, out: Any) -> None:
    for k in range(1, len(out)):
        out[k] = function(out[k - 1], out[k])


def no_start(index: Any, size: int) -> Any:
    """The first number that is no place in an axis of this size; if there is none, one that is."""
    for i in index:
        if i < 0 or i >= size:
            return i
    return np.int64(0)


def reduceat(function: Any, a: Any, index: Any, out: Any) -> None:
    """Row j is the rows from index[j] to index[j + 1] folded, or the first of them alone."""
    for j in range(len(index)):
        stop = index[j + 1] if j + 1 < len(index) else len(a)
        out[j] = a[index[j]]
        for k in range(index[j] + 1, stop):
            out[j] = function(out[j], a[k])


# -------------------------------------------------------------------------------------------------- along an axis


def row_of(a: Any, i: int) -> Any:
    """Row i of an array, or the only one it has."""
    return a[i if len(a) > 1 else 0]


def take_inside(a: Any, index: Any, out: Any) -> Any:
    """Along the second axis."""
    for i in range(len(out)):
        for k in range(len(index)):
            out[i, k] = a[i, index[k]]
    return out


def take_along(a: Any, index: Any, out: Any) -> None:
    """Along the last axis; the others broadcast."""
    if out.ndim == 1:
        for k in range(len(out)):
            out[k] = a[index[k]]
    else:
        for i in range(len(out)):
            take_along(row_of(a, i), row_of(index, i), out[i])


def put_along(a: Any, index: Any, values: Any) -> None:
    if values.ndim == 1:
        for k in range(len(values)):
            a[index[k]] = values[k]
    else:
        for i in range(len(values)):
            put_along(row_of(a, i), row_of(index, i), values[i])


def place(a: Any, mask: Any, values: Any, j: int) -> int:
    """Where the mask is true, the values one after the other, from number j on."""
    if a.ndim == 1:
        for k in range(len(a)):
            if mask[k]:
                a[k] = values[j % len(values)]
                j += 1
    else:
        for i in range(len(a)):
            j = place(a[i], mask[i], values, j)
    return j


def put_flat(a: Any, values: Any, j: int) -> int:
    """The values one after the other, from number j on, again from the first when there are no more."""
    if len(values) == 0:
        return j
    if a.ndim == 1:
        for k in range(len(a)):
            a[k] = values[j]
            j = j + 1 if j + 1 < len(values) else 0
    else:
        for i in range(len(a)):
            j = put_flat(a[i], values, j)
    return j


def piece(out: Any, x: Any, condition: Any, f: Any, *more: Any, **named: Any) -> None:
    """np.piecewise where one of its conditions holds: the function is not called for no elements."""
    chosen = x[condition]
    if chosen.size > 0:
        out[condition] = f(chosen, *more, **named)


def putmask(a: Any, mask: Any, values: Any, j: int) -> int:
    """Where the mask is true, the value of the element's own number."""
    if a.ndim == 1:
        for k in range(len(a)):
            if mask[k] and len(values) > 0:
                a[k] = values[j % len(values)]
            j += 1
    else:
        for i in range(len(a)):
            j = putmask(a[i], mask[i], values, j)
    return j


# ---------------------------------------------------------------------------------------------- as Python's objects


def tolist(a: Any) -> Any:
    """Lists of Python's numbers, one in the other."""
    if a.ndim == 1:
        return [x.item() for x in a]
    return [tolist(row) for row in a]


def fromiter(iter: Any, dtype: Any, count: Any = -1) -> Any:  # noqa: A002 NumPy's name
    items: Any = []
    if count == 0:
        return np.array(items, dtype)
    for x in iter:
        items.append(x)
        if len(items) == count:
            break
    if len(items) < count:
        raise ValueError(f"iterator too short: Expected {count} but iterator had only {len(items)} items.")
    return np.array(items, dtype)


def unstack(a: Any) -> Any:
    return tuple([a[k] for k in range(len(a))])


FUNCTIONS: dict[str, Any] = {
    f"pullback.{f.__name__}": f
    for f in (
        repeat_total, repeat_rows, resize, pad_constant, pad_edge, pad_wrap, pad_mirror, pad_odd, pad_ramp, pad_max,
        take_inside, pad_min, pad_mean, pad_median, tolist, unstack, take_along, put_along, place, putmask,
        put_flat, piece, fold, accumulate, no_start, reduceat, insert_rows, delete_rows, first_nonzero, after_nonzero,
    )
}  # fmt: skip
FUNCTIONS["numpy.fromiter"] = fromiter
