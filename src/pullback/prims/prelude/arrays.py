"""Functions over arrays in the accepted Python: index arrays, masks, reductions of rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from pullback.prims.prelude.intrinsics import stop

__all__ = ["FUNCTIONS"]


def ramp(out: Any, start: Any, step: Any) -> Any:
    for k in range(len(out)):
        out[k] = start + k * step
    return out


def linspace(start: float, end: float, num: int, endpoint: bool) -> Any:
    if num < 0:
        raise ValueError("Number of samples must be non-negative.")
    out = np.empty(num)
    parts = num - 1 if endpoint else num
    for k in range(num):
        out[k] = start + k * ((end - start) / parts) if parts > 0 else start
    if endpoint and num > 1:
        out[num - 1] = end
    return out


def set_diagonal(out: Any) -> Any:
    for k in range(min(out.shape[0], out.shape[1])):
        out[k, k] = 1
    return out


def matmul_loops(a: Any, b: Any, out: Any) -> Any:
    for i in range(out.shape[0]):
        for k in range(b.shape[0]):
            for j in range(out.shape[1]):
                out[i, j] += a[i, k] * b[k, j]
    return out


# ------------------------------------------------------------------------------------------ index arrays and masks


def first_outside(index: Any, size: int) -> Any:
    """The first number that is no index of an axis of this size; there is one."""
    for i in index:
        if i < -size or i >= size:
            return i
    return index[0]


def take_index(a: Any, index: Any, out: Any) -> Any:
    for k in range(len(index)):
        out[k] = a[index[k]]
    return out


def positions(mask: Any, out: Any) -> Any:
    j = 0
    for k in range(len(mask)):
        if mask[k]:
            out[j] = k
            j += 1
    return out


def take_pairs(a: Any, i: Any, j: Any, out: Any) -> Any:
    for k in range(len(i)):
        out[k] = a[i[k], j[k]]
    return out


def take_triples(a: Any, i: Any, j: Any, m: Any, out: Any) -> Any:
    for k in range(len(i)):
        out[k] = a[i[k], j[k], m[k]]
    return out


def set_pairs(a: Any, i: Any, j: Any, values: Any) -> None:
    for k in range(len(i)):
        a[i[k], j[k]] = values[k]


def set_triples(a: Any, i: Any, j: Any, m: Any, values: Any) -> None:
    for k in range(len(i)):
        a[i[k], j[k], m[k]] = values[k]


def take_mask(a: Any, mask: Any, out: Any) -> Any:
    j = 0
    for k in range(len(mask)):
        if mask[k]:
            out[j] = a[k]
            j += 1
    return out


def set_index(a: Any, index: Any, values: Any) -> None:
    for k in range(len(index)):
        a[index[k]] = values[k]


def set_mask_rows(a: Any, mask: Any, values: Any) -> None:
    j = 0
    for k in range(len(mask)):
        if mask[k]:
            a[k] = values[j]
            j += 1


def set_mask(a: Any, mask: Any, values: Any, j: int) -> int:
    """Elements where the mask is true take the values from number j on, in row-major order."""
    if a.ndim == 1:
        for k in range(len(mask)):
            if mask[k]:
                a[k] = values[j]
                j += 1
    else:
        for k in range(len(mask)):
            j = set_mask(a[k], mask[k], values, j)
    return j


# ------------------------------------------------------------------------------------------------------ reductions


def prod_flat(a: Any) -> Any:
    result = ones_like_first(a)
    for x in a:
        result = result * x
    return result


def ones_like_first(a: Any) -> Any:
    return np.ones(1, a.dtype)[0]


def mean_flat(a: Any) -> Any:
    return np.sum(a) / len(a)


def max_flat(a: Any) -> Any:
    if len(a) == 0:
        raise ValueError("zero-size array to reduction operation maximum which has no identity")
    best = a[0]
    for x in a:
        best = best | x
    return best


def min_flat(a: Any) -> Any:
    if len(a) == 0:
        raise ValueError("zero-size array to reduction operation minimum which has no identity")
    best = a[0]
    for x in a:
        best = best & x
    return best


def largest_flat(a: Any) -> Any:
    """The largest of floats, without derivative; nan if any is nan."""
    if len(a) == 0:
        raise ValueError("zero-size array to reduction operation maximum which has no identity")
    best = stop(a[0])
    for k in range(1, len(a)):
        best = np.maximum(best, stop(a[k]))
    return best


def smallest_flat(a: Any) -> Any:
    if len(a) == 0:
        raise ValueError("zero-size array to reduction operation minimum which has no identity")
    best = stop(a[0])
    for k in range(1, len(a)):
        best = np.minimum(best, stop(a[k]))
    return best


def largest_rows(a: Any, out: Any) -> Any:
    for i in range(len(out)):
        out[i] = largest_flat(a[i])
    return out


def smallest_rows(a: Any, out: Any) -> Any:
    for i in range(len(out)):
        out[i] = smallest_flat(a[i])
    return out


def largest_columns(a: Any, out: Any) -> Any:
    if len(out) > 0 and len(a) == 0:
        raise ValueError("zero-size array to reduction operation maximum which has no identity")
    for j in range(len(out)):
        out[j] = stop(a[0, j])
    for i in range(1, len(a)):
        for j in range(len(out)):
            out[j] = np.maximum(out[j], stop(a[i, j]))
    return out


def smallest_columns(a: Any, out: Any) -> Any:
    if len(out) > 0 and len(a) == 0:
        raise ValueError("zero-size array to reduction operation minimum which has no identity")
    for j in range(len(out)):
        out[j] = stop(a[0, j])
    for i in range(1, len(a)):
        for j in range(len(out)):
            out[j] = np.minimum(out[j], stop(a[i, j]))
    return out


def argmax_flat(a: Any) -> Any:
    if len(a) == 0:
        raise ValueError("attempt to get argmax of an empty sequence")
    best = 0
    for k in range(len(a)):
        if a[k] > a[best] or (a[k] != a[k] and a[best] == a[best]):
            best = k
    return np.int64(best)


def argmin_flat(a: Any) -> Any:
    if len(a) == 0:
        raise ValueError("attempt to get argmin of an empty sequence")
    best = 0
    for k in range(len(a)):
        if a[k] < a[best] or (a[k] != a[k] and a[best] == a[best]):
            best = k
    return np.int64(best)


def any_flat(a: Any) -> Any:
    for x in a:
        if x:
            return np.bool_(True)
    return np.bool_(False)


def all_flat(a: Any) -> Any:
    for x in a:
        if not x:
            return np.bool_(False)
    return np.bool_(True)


def var_flat(a: Any, ddof: Any) -> Any:
    m = np.sum(a) / len(a)
    d = a - m
    return np.sum(d * d) / np.maximum(len(a) - ddof, 0)


def std_flat(a: Any, ddof: Any) -> Any:
    """The root of the variance; its derivative at 0 is 0."""
    v = var_flat(a, ddof)
    return np.sqrt(v) if v != 0.0 else v * 0.0


def prod_rows(a: Any, out: Any) -> Any:
    for i in range(len(out)):
        out[i] = prod_flat(a[i])
    return out


def max_rows(a: Any, out: Any) -> Any:
    for i in range(len(out)):
        out[i] = np.max(a[i])
    return out


def min_rows(a: Any, out: Any) -> Any:
    for i in range(len(out)):
        out[i] = np.min(a[i])
    return out


def argmax_rows(a: Any, out: Any) -> Any:
    for i in range(len(out)):
        out[i] = argmax_flat(a[i])
    return out


def argmin_rows(a: Any, out: Any) -> Any:
    for i in range(len(out)):
        out[i] = argmin_flat(a[i])
    return out


def any_rows(a: Any, out: Any) -> Any:
    for i in range(len(out)):
        out[i] = any_flat(a[i])
    return out


def all_rows(a: Any, out: Any) -> Any:
    for i in range(len(out)):
        out[i] = all_flat(a[i])
    return out


def var_rows(a: Any, out: Any, ddof: Any) -> Any:
    for i in range(len(out)):
        out[i] = var_flat(a[i], ddof)
    return out


def std_rows(a: Any, out: Any, ddof: Any) -> Any:
    for i in range(len(out)):
        out[i] = std_flat(a[i], ddof)
    return out


FUNCTIONS: dict[str, Any] = {
    f"pullback.{f.__name__}": f
    for f in (
        ramp, linspace, positions, set_diagonal, matmul_loops, first_outside, take_index, take_pairs, take_triples,
        take_mask, set_index, set_pairs, set_triples, set_mask_rows, set_mask, prod_flat, mean_flat,
        largest_flat, smallest_flat, largest_rows, smallest_rows, largest_columns, smallest_columns, max_flat,
        min_flat, argmax_flat, argmin_flat, any_flat, all_flat, var_flat, std_flat, prod_rows, max_rows, min_rows,
        argmax_rows, argmin_rows, any_rows, all_rows, var_rows, std_rows,
    )
}  # fmt: skip
