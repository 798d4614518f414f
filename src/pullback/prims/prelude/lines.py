"""Loops over the lines of tables, and functions of one line: reductions and running sums.

    fold_columns(f, a, out)       out[i, j] = f(a[i, :, j])
    scan_rows(f, a, out)          f(a[i], out[i]) fills out[i]
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pullback.prims.prelude.intrinsics import stop

__all__ = ["FUNCTIONS"]


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
    for x in a:
        if x:
            return np.bool_(True)
    return np.bool_(False)


def all_line(a: Any) -> Any:
    for x in a:
        if not x:
            return np.bool_(False)
    return np.bool_(True)


def argmax_line(a: Any) -> Any:
    if len(a) == 0:
        raise ValueError("attempt to get argmax of an empty sequence")
    best = 0
    for k in range(len(a)):
        if a[k] > a[best] or (a[k] != a[k] and a[best] == a[best]):
            best = k
    return np.int64(best)


def argmin_line(a: Any) -> Any:
    if len(a) == 0:
        raise ValueError("attempt to get argmin of an empty sequence")
    best = 0
    for k in range(len(a)):
        if a[k] < a[best] or (a[k] != a[k] and a[best] == a[best]):
            best = k
    return np.int64(best)


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
    b0 = b1 = b2 = b3 = b4 = b5 = b6 = b7 = stop(start)
    whole = len(a) // 8
    for k in range(whole):
        i = 8 * k
        b0, b1 = np.maximum(b0, stop(a[i])), np.maximum(b1, stop(a[i + 1]))
        b2, b3 = np.maximum(b2, stop(a[i + 2])), np.maximum(b3, stop(a[i + 3]))
        b4, b5 = np.maximum(b4, stop(a[i + 4])), np.maximum(b5, stop(a[i + 5]))
        b6, b7 = np.maximum(b6, stop(a[i + 6])), np.maximum(b7, stop(a[i + 7]))
    for k in range(8 * whole, len(a)):
        b0 = np.maximum(b0, stop(a[k]))
    b0, b1, b2, b3 = np.maximum(b0, b4), np.maximum(b1, b5), np.maximum(b2, b6), np.maximum(b3, b7)
    return np.maximum(np.maximum(b0, b2), np.maximum(b1, b3))


def smallest_line_from(a: Any, start: Any) -> Any:
    b0 = b1 = b2 = b3 = b4 = b5 = b6 = b7 = stop(start)
    whole = len(a) // 8
    for k in range(whole):
        i = 8 * k
        b0, b1 = np.minimum(b0, stop(a[i])), np.minimum(b1, stop(a[i + 1]))
        b2, b3 = np.minimum(b2, stop(a[i + 2])), np.minimum(b3, stop(a[i + 3]))
        b4, b5 = np.minimum(b4, stop(a[i + 4])), np.minimum(b5, stop(a[i + 5]))
        b6, b7 = np.minimum(b6, stop(a[i + 6])), np.minimum(b7, stop(a[i + 7]))
    for k in range(8 * whole, len(a)):
        b0 = np.minimum(b0, stop(a[k]))
    b0, b1, b2, b3 = np.minimum(b0, b4), np.minimum(b1, b5), np.minimum(b2, b6), np.minimum(b3, b7)
    return np.minimum(np.minimum(b0, b2), np.minimum(b1, b3))


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
                out[i, j] = np.maximum(out[i, j], stop(a[i, k, j]))


def lower_columns(a: Any, out: Any) -> None:
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            for j in range(a.shape[2]):
                out[i, j] = np.minimum(out[i, j], stop(a[i, k, j]))


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
        scan_rows, scan_columns, fold_rows, fold_columns, prod_line, prod_columns, any_line,
        any_columns, all_line, all_columns, argmax_line, argmin_line,
        largest_line, smallest_line, largest_line_from, smallest_line_from, largest_columns, smallest_columns,
        largest_columns_from, smallest_columns_from, cumsum_line, cumsum_columns, cumprod_line, cumprod_columns,
        gradient_even_1, gradient_even_2, gradient_uneven_1, gradient_uneven_2,
    )
}  # fmt: skip
