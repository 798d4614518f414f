"""Copies of arguments that share memory exactly where the arguments do.

    a = np.arange(4.0)
    x, y = copied((a[1:], a[:-1]))      x[0] = 7.0 changes y[1], and nothing of a

What a program may do with a copy without another copy is as before: the strides of an array decide whether a reshape of
it, or of a slice of it, is a view.
"""

from __future__ import annotations

import ctypes
from collections import Counter, OrderedDict, defaultdict, deque
from fractions import Fraction
from types import CellType
from typing import Any

import numpy as np

from pullback.runtime.objects import attributes, is_user_object

__all__ = ["copied", "zeros"]

_DICTS = (dict, defaultdict, Counter, OrderedDict)


def copied(value: Any) -> Any:
    """A copy of all arrays, lists, dicts, cells and objects of the user's; everything else stays."""
    return _Copier(zero=False).copy(value)


def zeros(value: Any) -> Any:
    """A copy with zeros for all numbers."""
    return _Copier(zero=True).copy(value)


class _Copier:
    """One copy for each object, whatever refers to it, without recursion into objects and lists."""

    def __init__(self, *, zero: bool) -> None:
        self.zero = zero
        self.seen: dict[int, Any] = {}  # lists, dicts and objects, by identity
        self.arrays: list[Any] = []
        self.made: dict[int, Any] = {}

    def visit(self, value: Any) -> None:
        waiting = [value]
        while waiting:
            value = waiting.pop()
            if isinstance(value, np.ndarray):
                self.arrays.append(value)
            elif isinstance(value, tuple):
                waiting += value
            elif id(value) not in self.seen and _is_changeable(value):
                self.seen[id(value)] = value
                waiting += _content(value)

    def copy(self, value: Any) -> Any:
        self.visit(value)
        self.made = {id(a): np.zeros_like(a) for a in self.arrays} if self.zero else _copies(self.arrays)
        self.made.update((key, _empty(old)) for key, old in self.seen.items())
        for key, old in self.seen.items():
            new = self.made[key]
            if type(old) in (list, deque):
                new.extend(map(self._copied, old))
            elif type(old) is set:
                new.update(old)
            elif type(old) is CellType:
                new.cell_contents = self._copied(old.cell_contents)
            elif type(old) in _DICTS:
                for name, item in old.items():
                    new[name] = self._copied(item)
            else:
                for name, item in attributes(old):
                    object.__setattr__(new, name, self._copied(item))
        return self._copied(value)

    def _copied(self, value: Any) -> Any:
        if isinstance(value, tuple):
            items = [self._copied(item) for item in value]
            return type(value)._make(items) if hasattr(value, "_make") else type(value)(items)
        if self.zero and isinstance(value, bool | int | float | complex | np.generic):
            return type(value)(0)
        return self.made.get(id(value), value)


def _is_changeable(value: Any) -> bool:
    return type(value) in (list, deque, set, CellType, *_DICTS) or is_user_object(value)


def _content(value: Any) -> list[Any]:
    if type(value) in (list, deque):
        return list(value)
    if type(value) is set:
        return []
    if type(value) is CellType:
        return [value.cell_contents]
    return list(value.values()) if type(value) in _DICTS else [item for _, item in attributes(value)]


def _empty(value: Any) -> Any:
    if type(value) is deque:
        return deque(maxlen=value.maxlen)
    if type(value) is defaultdict:
        return defaultdict(value.default_factory)
    return type(value)() if type(value) in (list, set, CellType, *_DICTS) else object.__new__(type(value))


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
        alone = _copy(group[0]) if len(group) == 1 else None
        if alone is not None:
            copies[id(group[0])] = alone
            continue
        memory = bytearray(ctypes.string_at(low, high - low))
        for a in group:
            offset = a.__array_interface__["data"][0] - low
            copies[id(a)] = np.ndarray(a.shape, a.dtype, memory, offset, a.strides)
    return copies


def _copy(array: Any) -> Any:
    """A copy of one array in little memory; None where only a copy of all that its elements lie in will do."""
    if array.flags.c_contiguous:
        return array.copy()
    strides = _closer(array)
    if strides is None:
        return None
    first = sum((1 - size) * min(0, stride) for size, stride in zip(array.shape, strides, strict=True))
    last = sum((size - 1) * max(0, stride) for size, stride in zip(array.shape, strides, strict=True))
    memory = bytearray(first + last + array.itemsize)
    copy = np.ndarray(array.shape, array.dtype, memory, first, strides)
    copy[...] = array
    return copy


def _closer(array: Any) -> list[int] | None:
    """Strides that leave less room between the elements, for which the same axes, sliced in any way, are one in memory.

    Two axes of n and m elements are one if the stride of the first is m times that of the second.  With steps of k this
    becomes c * k times, for a count c * k < 2 * m; so a ratio of 2 * m and more is as good as 2 * m.
    """
    found = [array.itemsize] * array.ndim
    room = Fraction(array.itemsize)  # that an element takes on the axis before, with its size
    ratio_limit, before, chosen = 2, Fraction(array.itemsize), Fraction(array.itemsize)
    for axis in sorted(range(array.ndim), key=lambda axis: abs(array.strides[axis])):
        if array.shape[axis] == 1:
            continue
        stride = Fraction(abs(array.strides[axis]))
        if stride < room:
            return None  # elements share memory
        chosen *= min(stride / before, Fraction(ratio_limit))
        if chosen % array.itemsize:
            return None
        before, ratio_limit, room = stride, 2 * array.shape[axis], stride * array.shape[axis]
        found[axis] = int(chosen) if array.strides[axis] > 0 else -int(chosen)
    return found


def _bounds(array: Any) -> tuple[int, int]:
    """The addresses of its first byte and of the one after its last."""
    low = high = int(array.__array_interface__["data"][0])
    for size, stride in zip(array.shape, array.strides, strict=True):
        if stride < 0:
            low += (size - 1) * stride
        else:
            high += (size - 1) * stride
    return low, high + array.itemsize
