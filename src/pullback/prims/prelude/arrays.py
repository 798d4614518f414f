"""Functions over arrays in the accepted Python: index arrays and masks, all indices in turn."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from pullback.prims.prelude.intrinsics import add_product, structural

__all__ = ["FUNCTIONS"]


def ramp(out: Any, start: Any, step: Any) -> Any:
    for k in range(len(out)):
        out[k] = start + k * step
    return out


def matmul_loops(a: Any, b: Any, out: Any) -> Any:
    for i in range(out.shape[0]):
        for k in range(b.shape[0]):
            for j in range(out.shape[1]):
                out[i, j] += a[i, k] * b[k, j]
    return out


def matmul_stack(a: Any, b: Any, out: Any) -> Any:
    """Adds the products of the matrices in the last two axes; leading axes of size 1 serve all of the other."""
    for i in range(out.shape[0]):
        x, y = a[i if a.shape[0] > 1 else 0], b[i if b.shape[0] > 1 else 0]
        if out.ndim == 3:
            add_product(out[i], x, y)
        else:
            matmul_stack(x, y, out[i])
    return out


def ndindex(*shape: Any) -> Any:
    """All indices of an array of a shape, the last one changing first."""
    if len(shape) == 1 and isinstance(shape[0], tuple):
        return itertools.product(*[range(n) for n in shape[0]])
    return itertools.product(*[range(n) for n in shape])


def ndenumerate(arr: Any) -> Any:
    """Pairs of an index and the element there."""
    a = np.asarray(arr)
    return zip(itertools.product(*[range(n) for n in a.shape]), a.flat)  # noqa: B905 one of the two is an iterator


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


@structural
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


def take_many(a: Any, indices: Any, out: Any) -> Any:
    for k in range(len(out)):
        out[k] = at_indices(a, indices, k)
    return out


def at_indices(a: Any, indices: Any, k: int) -> Any:
    """What the k-th numbers of all index arrays pick."""
    if len(indices) == 1:
        return a[indices[0][k]]
    return at_indices(a[indices[0][k]], indices[1:], k)


def set_many(a: Any, indices: Any, values: Any) -> None:
    for k in range(len(values)):
        set_at(a, indices, k, values[k])


def set_at(a: Any, indices: Any, k: int, value: Any) -> None:
    if len(indices) == 1:
        a[indices[0][k]] = value
    else:
        set_at(a[indices[0][k]], indices[1:], k, value)


def apply_at(function: Any, a: Any, indices: Any, values: Any) -> None:
    """a[i] = function(a[i], value), one index after the other."""
    for k in range(len(values)):
        set_at(a, indices, k, function(at_indices(a, indices, k), values[k]))


def apply_at_one(function: Any, a: Any, indices: Any) -> None:
    for k in range(len(indices[0])):
        set_at(a, indices, k, function(at_indices(a, indices, k)))


def set_pairs(a: Any, i: Any, j: Any, values: Any) -> None:
    for k in range(len(i)):
        a[i[k], j[k]] = values[k]


def set_triples(a: Any, i: Any, j: Any, m: Any, values: Any) -> None:
    for k in range(len(i)):
        a[i[k], j[k], m[k]] = values[k]


@structural
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


@structural
def set_mask_rows(a: Any, mask: Any, values: Any) -> None:
    j = 0
    for k in range(len(mask)):
        if mask[k]:
            a[k] = values[j]
            j += 1


@structural
def set_mask(a: Any, mask: Any, values: Any, j: int) -> int:
    """Elements where the mask is true take the values from number j on, in row-major order; one value serves all."""
    if a.ndim == 1:
        step = 1 if len(values) > 1 else 0
        for k in range(len(mask)):
            if mask[k]:
                a[k] = values[j]
                j += step
    else:
        for k in range(len(mask)):
            j = set_mask(a[k], mask[k], values, j)
    return j


@structural
def take_mask_parts(a: Any, b: Any, mask: Any, to_a: Any, to_b: Any) -> None:
    """As take_mask, of both parts of complex numbers."""
    j = 0
    for k in range(len(mask)):
        if mask[k]:
            to_a[j] = a[k]
            to_b[j] = b[k]
            j += 1


@structural
def set_mask_parts(a: Any, b: Any, mask: Any, values: Any, others: Any) -> None:
    j, step = 0, 1 if len(values) > 1 else 0
    for k in range(len(mask)):
        if mask[k]:
            a[k] = values[j]
            b[k] = others[j]
            j += step


FUNCTIONS: dict[str, Any] = {
    "numpy.ndindex": ndindex,
    "numpy.ndenumerate": ndenumerate,
} | {
    f"pullback.{f.__name__}": f
    for f in (
        ramp, positions, matmul_loops, matmul_stack, first_outside, take_index, take_pairs, take_triples, take_mask,
        take_many, at_indices, set_many, set_at, apply_at, apply_at_one, set_index, set_pairs, set_triples,
        set_mask_rows, set_mask, take_mask_parts, set_mask_parts,
    )
}  # fmt: skip
