"""Loops over the lines of tables, and functions of one line: reductions and running sums.

    fold_columns(f, a, out)       out[i, j] = f(a[i, :, j])
    scan_rows(f, a, out)          f(a[i], out[i]) fills out[i]
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pullback.prims.prelude.intrinsics import larger, smaller, stop

__all__ = ["FUNCTIONS"]

BLOCK = 256  # places are looked for in blocks of so many elements
SHORT = 32  # and of so many in lines of less than two of those
LINE = 4096  # and truth values in such ones


def scan_rows(f: Any, a: Any, out: Any, *extra: Any) -> Any:
    for i in range(len(a)):
        f(a[i], out[i], *extra)
    return out


def scan_columns(f: Any, a: Any, out: Any, *extra: Any) -> Any:
    for i in range(a.shape[0]):
        for j in range(a.shape[2]):
            f(a[i, :, j], out[i, :, j], *extra)
    return out


def fold_rows(f: Any, a: Any, out: Any, *extra: Any) -> Any:
    for i in range(len(a)):
        out[i] = f(a[i], *extra)
    return out


def fold_dense(f: Any, a: Any, out: Any, *extra: Any) -> Any:
    """As fold_rows, for rows whose elements are apart and have no derivative: each is moved together first."""
    line = np.empty(a.shape[1], a.dtype)
    for i in range(len(a)):
        for k in range(a.shape[1]):
            line[k] = stop(a[i, k])
        out[i] = f(line, *extra)
    return out


def of_dense(f: Any, a: Any, *extra: Any) -> Any:
    line = np.empty(len(a), a.dtype)
    for k in range(len(a)):
        line[k] = stop(a[k])
    return f(line, *extra)


def fold_columns(f: Any, a: Any, out: Any, *extra: Any) -> Any:
    for i in range(a.shape[0]):
        for j in range(a.shape[2]):
            out[i, j] = f(a[i, :, j], *extra)
    return out


# ------------------------------------------------------------------------------------------------------ reductions


def prod_line(a: Any) -> Any:
    result = np.ones(1, a.dtype)[0]
    for x in a:
        result = result * x
    return result


def prod_columns(a: Any, out: Any) -> None:
    for i in range(a.shape[0]):
        for j in range(a.shape[2]):
            out[i, j] = 1
        for k in range(a.shape[1]):
            for j in range(a.shape[2]):
                out[i, j] = out[i, j] * a[i, k, j]


def any_columns(a: Any, out: Any) -> None:
    for i in range(a.shape[0]):
        for j in range(a.shape[2]):
            out[i, j] = False
        for k in range(a.shape[1]):
            for j in range(a.shape[2]):
                out[i, j] = out[i, j] | a[i, k, j]


def all_columns(a: Any, out: Any) -> None:
    for i in range(a.shape[0]):
        for j in range(a.shape[2]):
            out[i, j] = True
        for k in range(a.shape[1]):
            for j in range(a.shape[2]):
                out[i, j] = out[i, j] & a[i, k, j]


def any_line(a: Any) -> Any:
    for low in range(0, len(a), LINE):
        found = np.bool_(False)
        for k in range(low, min(low + LINE, len(a))):
            found = found | a[k]
        if found:
            return found
    return np.bool_(False)


def all_line(a: Any) -> Any:
    for low in range(0, len(a), LINE):
        true = np.bool_(True)
        for k in range(low, min(low + LINE, len(a))):
            true = true & a[k]
        if not true:
            return true
    return np.bool_(True)


def argmax_line(a: Any) -> Any:
    if len(a) == 0:
        raise ValueError("attempt to get argmax of an empty sequence")
    return place_in_line(a, larger, above)


def argmin_line(a: Any) -> Any:
    if len(a) == 0:
        raise ValueError("attempt to get argmin of an empty sequence")
    return place_in_line(a, smaller, below)


def above(x: Any, best: Any) -> Any:
    """Does x, which comes later, take the place of the largest so far: the first nan keeps it."""
    return x > best or (x != x and best == best)


def below(x: Any, best: Any) -> Any:
    return x < best or (x != x and best == best)


def place_in_line(a: Any, join: Any, beats: Any) -> Any:
    """The first place of the best: of the best of blocks, which are found as vectors."""
    if len(a) < SHORT:
        place = 0
        for k in range(len(a)):
            if beats(stop(a[k]), stop(a[place])):
                place = k
        return np.int64(place)
    if len(a) < 2 * BLOCK:
        return place_by_blocks(a, SHORT, join, beats)
    return place_by_blocks(a, BLOCK, join, beats)


def place_by_blocks(a: Any, width: int, join: Any, beats: Any) -> Any:
    """The last block begins so that it is a whole one: what it has in common with the one before is not better."""
    best, start = stop(a[0]), 0
    for block in range((len(a) + width - 1) // width):
        low = min(block * width, len(a) - width)
        x = stop(a[low])
        for k in range(width):
            x = join(x, stop(a[low + k]))
        if beats(x, best):
            best, start = x, low
    return np.int64(start + first_place(a[start : start + width], best))


def first_place(a: Any, x: Any) -> int:
    """The first place of x, or of the first nan."""
    place = len(a)
    if x == x:
        for k in range(len(a)):
            place = min(place, k if stop(a[k]) == x else len(a))
    else:
        for k in range(len(a)):
            place = min(place, k if a[k] != a[k] else len(a))
    return place


def argmax_columns(a: Any, out: Any) -> None:
    if a.shape[1] == 0 and out.size > 0:
        raise ValueError("attempt to get argmax of an empty sequence")
    places_in_columns(a, out, above)


def argmin_columns(a: Any, out: Any) -> None:
    if a.shape[1] == 0 and out.size > 0:
        raise ValueError("attempt to get argmin of an empty sequence")
    places_in_columns(a, out, below)


def places_in_columns(a: Any, out: Any, beats: Any) -> None:
    best = np.empty(a.shape[2], a.dtype)
    for i in range(a.shape[0]):
        for j in range(a.shape[2]):
            best[j] = stop(a[i, 0, j])
            out[i, j] = 0
        for k in range(1, a.shape[1]):
            for j in range(a.shape[2]):
                x, y = stop(a[i, k, j]), best[j]
                better = beats(x, y)
                best[j] = x if better else y
                out[i, j] = k if better else out[i, j]


# ------------------------------------------------------------------- extremes, without derivative; nan if any is nan


def largest_line(a: Any) -> Any:
    if len(a) == 0:
        raise ValueError("zero-size array to reduction operation maximum which has no identity")
    return largest_line_from(a, a[0])


def smallest_line(a: Any) -> Any:
    if len(a) == 0:
        raise ValueError("zero-size array to reduction operation minimum which has no identity")
    return smallest_line_from(a, a[0])


def largest_line_from(a: Any, start: Any) -> Any:
    best = stop(start)
    for k in range(len(a)):
        best = larger(best, stop(a[k]))
    return best


def smallest_line_from(a: Any, start: Any) -> Any:
    best = stop(start)
    for k in range(len(a)):
        best = smaller(best, stop(a[k]))
    return best


def largest_columns(a: Any, out: Any) -> None:
    if a.shape[1] == 0 and out.size > 0:
        raise ValueError("zero-size array to reduction operation maximum which has no identity")
    for i in range(a.shape[0]):
        for j in range(a.shape[2]):
            out[i, j] = stop(a[i, 0, j])
    raise_columns(a, out)


def smallest_columns(a: Any, out: Any) -> None:
    if a.shape[1] == 0 and out.size > 0:
        raise ValueError("zero-size array to reduction operation minimum which has no identity")
    for i in range(a.shape[0]):
        for j in range(a.shape[2]):
            out[i, j] = stop(a[i, 0, j])
    lower_columns(a, out)


def largest_columns_from(a: Any, out: Any, start: Any) -> None:
    for i in range(a.shape[0]):
        for j in range(a.shape[2]):
            out[i, j] = stop(start)
    raise_columns(a, out)


def smallest_columns_from(a: Any, out: Any, start: Any) -> None:
    for i in range(a.shape[0]):
        for j in range(a.shape[2]):
            out[i, j] = stop(start)
    lower_columns(a, out)


def raise_columns(a: Any, out: Any) -> None:
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            for j in range(a.shape[2]):
                out[i, j] = larger(stop(a[i, k, j]), out[i, j])  # in this order it is stored without a mask


def lower_columns(a: Any, out: Any) -> None:
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            for j in range(a.shape[2]):
                out[i, j] = smaller(stop(a[i, k, j]), out[i, j])


# ---------------------------------------------------------------------------------------------------- running sums


def cumsum_line(a: Any, out: Any) -> None:
    if len(a) > 0:
        total = a[0]
        out[0] = total
        for k in range(1, len(a)):
            total = total + a[k]
            out[k] = total


def cumsum_columns(a: Any, out: Any) -> None:
    if a.shape[1] > 0:
        for i in range(a.shape[0]):
            for j in range(a.shape[2]):
                out[i, 0, j] = a[i, 0, j]
            for k in range(1, a.shape[1]):
                for j in range(a.shape[2]):
                    out[i, k, j] = out[i, k - 1, j] + a[i, k, j]


def cumprod_line(a: Any, out: Any) -> None:
    if len(a) > 0:
        result = a[0]
        out[0] = result
        for k in range(1, len(a)):
            result = result * a[k]
            out[k] = result


def cumprod_columns(a: Any, out: Any) -> None:
    if a.shape[1] > 0:
        for i in range(a.shape[0]):
            for j in range(a.shape[2]):
                out[i, 0, j] = a[i, 0, j]
            for k in range(1, a.shape[1]):
                for j in range(a.shape[2]):
                    out[i, k, j] = out[i, k - 1, j] * a[i, k, j]


# ------------------------------------------------------------------------------------------------------ gradients


def inside_even(a: Any, out: Any, h: Any) -> None:
    for k in range(1, len(a) - 1):
        out[k] = (a[k + 1] - a[k - 1]) / (2.0 * h)


def inside_uneven(a: Any, out: Any, x: Any) -> None:
    for k in range(1, len(a) - 1):
        before, after = x[k] - x[k - 1], x[k + 1] - x[k]
        left = -after / (before * (before + after))
        middle = (after - before) / (before * after)
        right = before / (after * (before + after))
        out[k] = left * a[k - 1] + middle * a[k] + right * a[k + 1]


def gradient_even_1(a: Any, out: Any, h: Any) -> None:
    n = len(a)
    inside_even(a, out, h)
    out[0] = (a[1] - a[0]) / h
    out[n - 1] = (a[n - 1] - a[n - 2]) / h


def gradient_even_2(a: Any, out: Any, h: Any) -> None:
    n = len(a)
    inside_even(a, out, h)
    out[0] = -1.5 / h * a[0] + 2.0 / h * a[1] + -0.5 / h * a[2]
    out[n - 1] = 0.5 / h * a[n - 3] + -2.0 / h * a[n - 2] + 1.5 / h * a[n - 1]


def gradient_uneven_1(a: Any, out: Any, x: Any) -> None:
    n = len(a)
    inside_uneven(a, out, x)
    out[0] = (a[1] - a[0]) / (x[1] - x[0])
    out[n - 1] = (a[n - 1] - a[n - 2]) / (x[n - 1] - x[n - 2])


def gradient_uneven_2(a: Any, out: Any, x: Any) -> None:
    n = len(a)
    inside_uneven(a, out, x)
    p, q = x[1] - x[0], x[2] - x[1]
    out[0] = -(2.0 * p + q) / (p * (p + q)) * a[0] + (p + q) / (p * q) * a[1] + -p / (q * (p + q)) * a[2]
    p, q = x[n - 2] - x[n - 3], x[n - 1] - x[n - 2]
    left, right = q / (p * (p + q)), (2.0 * q + p) / (q * (p + q))
    out[n - 1] = left * a[n - 3] + -(q + p) / (p * q) * a[n - 2] + right * a[n - 1]


FUNCTIONS: dict[str, Any] = {
    f"pullback.{f.__name__}": f
    for f in (
        scan_rows, scan_columns, fold_rows, fold_columns, fold_dense, of_dense, prod_line, prod_columns, any_line,
        any_columns, all_line, all_columns, argmax_line, argmin_line, argmax_columns, argmin_columns, first_place,
        above, below, place_in_line, places_in_columns,
        largest_line, smallest_line, largest_line_from, smallest_line_from, largest_columns, smallest_columns,
        largest_columns_from, smallest_columns_from, cumsum_line, cumsum_columns, cumprod_line, cumprod_columns,
        gradient_even_1, gradient_even_2, gradient_uneven_1, gradient_uneven_2,
    )
}  # fmt: skip
