"""Copies of arguments that share memory exactly where the arguments do.

    a = np.arange(4.0)
    x, y = copied((a[1:], a[:-1]))      x[0] = 7.0 changes y[1], and nothing of a
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

__all__ = ["copied"]


def copied(value: Any) -> Any:
    """A copy of all arrays in tuples, lists and dicts; everything else stays."""
    arrays: list[Any] = []
    _collect(value, arrays)
    return _rebuilt(value, _copies(arrays))


def _collect(value: Any, arrays: list[Any]) -> None:
    if isinstance(value, np.ndarray):
        arrays.append(value)
    elif type(value) in (tuple, list):
        for item in value:
            _collect(item, arrays)
    elif type(value) is dict:
        for item in value.values():
            _collect(item, arrays)


def _rebuilt(value: Any, copies: dict[int, Any]) -> Any:
    if isinstance(value, np.ndarray):
        return copies[id(value)]
    if type(value) in (tuple, list):
        return type(value)(_rebuilt(item, copies) for item in value)
    if type(value) is dict:
        return {key: _rebuilt(item, copies) for key, item in value.items()}
    return value


def _copies(arrays: list[Any]) -> dict[int, Any]:
    """By identity.  Arrays whose address ranges meet are copied together."""
    copies: dict[int, Any] = {}
    plain = [a for a in arrays if a.dtype.hasobject or not a.size]
    copies.update((id(a), a.copy()) for a in plain)
    rest = sorted({id(a): a for a in arrays if id(a) not in copies}.values(), key=lambda a: _bounds(a)[0])
    while rest:
        group = [rest.pop(0)]
        low, high = _bounds(group[0])
        while rest and _bounds(rest[0])[0] < high:
            group.append(rest.pop(0))
            high = max(high, _bounds(group[-1])[1])
        if len(group) == 1:
            copies[id(group[0])] = group[0].copy()
            continue
        memory = bytearray(ctypes.string_at(low, high - low))
        for a in group:
            offset = a.__array_interface__["data"][0] - low
            copies[id(a)] = np.ndarray(a.shape, a.dtype, memory, offset, a.strides)
    return copies


def _bounds(array: Any) -> tuple[int, int]:
    """The addresses of its first byte and of the one after its last."""
    low = high = int(array.__array_interface__["data"][0])
    for size, stride in zip(array.shape, array.strides, strict=True):
        if stride < 0:
            low += (size - 1) * stride
        else:
            high += (size - 1) * stride
    return low, high + array.itemsize
