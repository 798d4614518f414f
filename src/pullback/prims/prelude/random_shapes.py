"""Arrays of random numbers: which shape they have, and how they are filled, number by number as NumPy does it.

drawn(g, (2, 3), draw)                  draw(g) six times, row after row
drawn_for(g, (2, 3), draw, a)           draw(g, a[i, j]); a number, or an array that broadcasts
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pullback.prims.prelude.intrinsics import discrete

__all__ = [
    "counted", "drawn", "drawn_for", "drawn_to", "flat_of", "float_of", "int_of", "is_single", "item_of", "limits_of",
    "moved_by", "number_of_rows", "pairs", "require", "result", "row_of", "shape_with", "whole_of", "whole_result",
]  # fmt: skip


def require(bad: Any, message: Any) -> None:
    if np.any(bad):
        raise ValueError(message)


def float_of(x: Any) -> Any:
    """A parameter in double precision, as NumPy takes it."""
    if isinstance(x, (np.ndarray, list, tuple)):
        array = np.asarray(x)
        return array.astype(np.float64)[()]
    return np.float64(x)


def int_of(x: Any) -> Any:
    """A parameter as a 64-bit int."""
    if isinstance(x, (np.ndarray, list, tuple)):
        array = discrete(np.asarray(x))
        return array.astype(np.int64)[()]
    return np.int64(discrete(x))


def shape_with(size: Any, parameters: Any) -> Any:
    """The shape of a result, None for a number; parameters: anything of the shape that they broadcast to."""
    if not isinstance(parameters, np.ndarray):
        return size
    if size is None:
        return parameters.shape
    np.broadcast_to(parameters, size)  # raises where they do not fit
    return size


def drawn(g: Any, shape: Any, draw: Any, dtype: Any = np.float64) -> Any:
    if shape is None:
        return draw(g)
    out = np.empty(shape, dtype)
    flat = out.reshape(-1)
    for k in range(flat.size):
        flat[k] = draw(g)
    return out


def drawn_to(g: Any, out: Any, size: Any, draw: Any, dtype: Any = np.float64) -> Any:
    """As drawn, into an array that is given unless that is None."""
    if out is None:
        return result(drawn(g, size, draw, dtype), size)
    flat = row_of(out, size, dtype)
    for k in range(flat.size):
        flat[k] = draw(g)
    return out


def row_of(out: Any, size: Any, dtype: Any) -> Any:
    """The elements of an array that is to be filled, as a view."""
    if out.dtype != np.dtype(dtype):
        wanted = "float32" if np.dtype(dtype) == np.float32 else "float64"
        raise TypeError(f"Supplied output array has the wrong type. Expected {wanted}, got {out.dtype.name}")
    if size is not None and np.empty(size).shape != out.shape:
        raise ValueError("size must match out.shape when used together")
    row = out.reshape(-1)
    if out.size > 0 and not np.may_share_memory(row, out):
        raise ValueError("Supplied output array must be contiguous, writable, aligned, and in machine byte-order.")
    return row


def drawn_for(g: Any, shape: Any, draw: Any, *parameters: Any) -> Any:
    if shape is None:
        return draw(g, *parameters)
    out = np.empty(shape)
    fill(g, out.reshape(-1), draw, *[flat_of(p, out) for p in parameters])
    return out


def counted(g: Any, shape: Any, draw: Any, *parameters: Any) -> Any:
    """As drawn_for, of whole numbers."""
    if shape is None:
        return draw(g, *parameters)
    out = np.empty(shape, np.int64)
    fill(g, out.reshape(-1), draw, *[flat_of(p, out) for p in parameters])
    return out


def pairs(g: Any, shape: Any, draw: Any, a: Any, b: Any) -> Any:
    """Two numbers for each place, drawn in turn: draw(g, a, b) gives both."""
    if shape is None:
        return draw(g, a, b)
    first, second = np.empty(shape), np.empty(shape)
    fill_pairs(g, first.reshape(-1), second.reshape(-1), draw, flat_of(a, first), flat_of(b, first))
    return first, second


def fill_pairs(g: Any, first: Any, second: Any, draw: Any, a: Any, b: Any) -> None:
    for k in range(first.size):
        first[k], second[k] = draw(g, item_of(a, k), item_of(b, k))


def fill(g: Any, flat: Any, draw: Any, *parameters: Any) -> None:
    for k in range(flat.size):
        flat[k] = draw(g, *[item_of(p, k) for p in parameters])


def flat_of(parameter: Any, like: Any) -> Any:
    """The elements of a parameter in the order of the array; a number as it is."""
    if not isinstance(parameter, np.ndarray):
        return parameter
    return np.broadcast_to(parameter, like.shape).reshape(-1)


def item_of(parameter: Any, k: int) -> Any:
    return parameter[k] if isinstance(parameter, np.ndarray) else parameter


def moved_by(move: Any, x: Any, *parameters: Any) -> Any:
    """move(x, parameters...), element by element."""
    if not isinstance(x, np.ndarray):
        return move(x, *parameters)
    out = np.empty(x.shape)
    place(out.reshape(-1), move, x.reshape(-1), *[flat_of(p, x) for p in parameters])
    return out


def place(flat: Any, move: Any, x: Any, *parameters: Any) -> None:
    for k in range(flat.size):
        flat[k] = move(x[k], *[item_of(p, k) for p in parameters])


def result(x: Any, size: Any = None) -> Any:
    """What the method gives: a Python float where no size is asked for, else an array."""
    if isinstance(x, np.ndarray):
        return x
    if size is None:
        return float(x)
    return np.asarray(x)


def whole_result(x: Any, size: Any = None) -> Any:
    if isinstance(x, np.ndarray):
        return x
    return int(x)


# --------------------------------------------------------------------------------------------------------- dtypes


def limits_of(dtype: Any) -> Any:
    """The least and the greatest number of a dtype, as far as a 64-bit int has them, and its bits."""
    kind = np.dtype(dtype)
    if kind == np.bool_:
        return 0, 1, 1
    if kind == np.uint64:
        return 0, 9223372036854775807, 64
    return np.iinfo(kind).min, np.iinfo(kind).max, 8 * kind.itemsize


def whole_of(found: Any, dtype: Any, size: Any) -> Any:
    """Numbers in a dtype; of Python's int and bool where one is asked for."""
    numbers = np.asarray(found).astype(dtype)
    if size is None and numbers.ndim == 0:
        if dtype is int:
            return int(numbers[()])
        return bool(numbers[()]) if dtype is bool else numbers[()]
    return numbers


def is_single(dtype: Any) -> bool:
    kind = np.dtype(dtype)
    if kind != np.float32 and kind != np.float64:
        raise TypeError("Unsupported dtype for random numbers")
    return bool(kind == np.float32)


def number_of_rows(size: Any) -> int:
    return int(np.empty(size).size)
