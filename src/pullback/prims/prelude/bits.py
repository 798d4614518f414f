"""np.packbits and np.unpackbits: eight truths to a byte, and back.

    np.packbits([1, 0, 1])      a line of bits, padded with zeros to whole bytes: 0b10100000
    np.unpackbits(a, axis=0)    eight rows for each of a's
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pullback.prims.prelude.intrinsics import axis_of

__all__ = ["FUNCTIONS"]


def check_order(bitorder: str) -> None:
    if bitorder != "big" and bitorder != "little":
        raise ValueError("'order' must be either 'little' or 'big'")


def lines_of(a: Any) -> Any:
    """The lines along the last axis as rows of a table."""
    count = 1
    for n in a.shape[:-1]:
        count *= n
    return a.reshape((count, a.shape[-1]))


def packbits(a: Any, /, axis: Any = None, bitorder: str = "big") -> Any:
    bits = np.asarray(a)
    if not np.issubdtype(bits.dtype, np.integer) and bits.dtype != np.bool_:
        raise TypeError("Expected an input array of integer or boolean data type")
    check_order(bitorder)
    if axis is None:
        return packed(bits.reshape((1, bits.size)), bitorder == "big")[0].copy()
    place = axis_of(axis, bits.ndim)
    moved = np.moveaxis(bits, place, -1)
    rows = packed(lines_of(moved), bitorder == "big")
    return np.moveaxis(rows.reshape((*moved.shape[:-1], rows.shape[1])), -1, place).copy()


def packed(bits: Any, big: bool) -> Any:
    m, n = bits.shape
    out = np.zeros((m, (n + 7) // 8), np.uint8)
    for i in range(m):
        for j in range(n):
            if bits[i, j] != 0:
                k = j % 8
                out[i, j // 8] |= np.uint8(1 << (7 - k if big else k))
    return out


def unpackbits(a: Any, /, axis: Any = None, count: Any = None, bitorder: str = "big") -> Any:
    data = np.asarray(a)
    if data.dtype != np.uint8:
        raise TypeError("Expected an input array of unsigned byte data type")
    check_order(bitorder)
    if axis is None:
        row = data.reshape((1, data.size))
        return unpacked(row, width(data.size, count), bitorder == "big")[0].copy()
    place = axis_of(axis, data.ndim)
    moved = np.moveaxis(data, place, -1)
    rows = unpacked(lines_of(moved), width(moved.shape[-1], count), bitorder == "big")
    return np.moveaxis(rows.reshape((*moved.shape[:-1], rows.shape[1])), -1, place).copy()


def width(size: int, count: Any) -> int:
    """How many bits of a line are wanted; from the end, if the count is negative."""
    if count is None:
        return 8 * size
    if count < 0:
        if -count > 8 * size:
            raise ValueError("-count larger than number of elements")
        return int(8 * size + count)
    return int(count)


def unpacked(data: Any, wanted: int, big: bool) -> Any:
    m, n = data.shape
    out = np.zeros((m, wanted), np.uint8)
    for i in range(m):
        for j in range(min(wanted, 8 * n)):
            k = j % 8
            out[i, j] = (data[i, j // 8] >> np.uint8(7 - k if big else k)) & 1
    return out


FUNCTIONS: dict[str, Any] = {"numpy.packbits": packbits, "numpy.unpackbits": unpackbits}
