"""Structured arrays at the boundary: their dtypes as types, and arrays put together of fields.

    [("x", "f8"), ("pos", "f4", (3,))]        Record(("x", "pos"), (array f64, array f32 with an axis more))

The fields of an array that Python passes are views of its memory.  Those of an array made in compiled code have memory
of their own; a `RecordMaker` makes one structured array of them when they leave.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from pullback.runtime.layout import COMPLEX_SCALARS, NUMPY_SCALARS
from pullback.types import Array, Complex, DType, Record, Type

__all__ = [
    "Leaf", "RecordMaker", "from_text", "leaves", "leaves_of", "record_type", "text_of", "unsupported",
]  # fmt: skip

_ELEMENTS = {np.dtype(scalar): dtype for dtype, scalar in NUMPY_SCALARS.items()}
_PARTS = {np.dtype(scalar): dtype for dtype, scalar in COMPLEX_SCALARS.items()}


@dataclass(frozen=True, slots=True)
class Leaf:
    """An array of numbers in a structured dtype: its place in each record, and the axes it has of its own.

    path: the fields that lead there, and "real" or "imag" for a part of complex numbers.  steps: of the own axes.
    """

    path: tuple[str, ...]
    offset: int
    dtype: DType
    shape: tuple[int, ...]
    steps: tuple[int, ...]


def _base(field: Any) -> tuple[Any, tuple[int, ...]]:
    """The dtype of the elements of a field, and the shape of what each record has of them."""
    return field.subdtype or (field, ())


def leaves(
    dtype: Any, path: tuple[str, ...] = (), offset: int = 0, outer: tuple[tuple[int, int], ...] = ()
) -> Iterator[Leaf]:
    """All numbers of a structured dtype, in the order of the slots of its type."""
    for name in dtype.names:
        field, start = dtype.fields[name][:2]
        base, shape = _base(field)
        steps = tuple(base.itemsize * prod(shape[axis + 1 :]) for axis in range(len(shape)))
        axes, here, place = (*outer, *zip(shape, steps, strict=True)), (*path, name), offset + start
        if base.names:
            yield from leaves(base, here, place, axes)
            continue
        sizes, strides = tuple(size for size, _ in axes), tuple(step for _, step in axes)
        if base in _ELEMENTS:
            yield Leaf(here, place, _ELEMENTS[base], sizes, strides)
            continue
        part = _PARTS[base]
        for number, half in enumerate(("real", "imag")):
            yield Leaf((*here, half), place + number * part.bytes, part, sizes, strides)


def text_of(dtype: Any) -> str:
    """A structured dtype as a text that says all of it."""
    return json.dumps(_described(dtype))


def from_text(text: str) -> Any:
    """The dtype that a text says."""
    return np.dtype(_specified(json.loads(text)))


def _described(dtype: Any) -> Any:
    base, shape = _base(dtype)
    if shape:
        return [_described(base), list(shape)]
    if not dtype.names:
        return dtype.str
    fields = [dtype.fields[name] for name in dtype.names]
    return {
        "names": list(dtype.names), "formats": [_described(field) for field, *_ in fields],
        "offsets": [offset for _, offset, *_ in fields], "itemsize": dtype.itemsize, "aligned": dtype.isalignedstruct,
    }  # fmt: skip


def _specified(found: Any) -> Any:
    """What NumPy makes the dtype of."""
    if isinstance(found, list):
        return (_specified(found[0]), tuple(found[1]))
    return {**found, "formats": list(map(_specified, found["formats"]))} if isinstance(found, dict) else found


def unsupported(dtype: Any) -> str:
    """Why a structured dtype is not known, to follow "whose"; empty if it is."""
    if not dtype.names:
        return "records have no fields"
    for name in dtype.names:
        base, _ = _base(dtype.fields[name][0])
        if base.names:
            if reason := unsupported(base):
                return reason
        elif base not in _ELEMENTS and base not in _PARTS:
            return f"field '{name}' is of dtype {base}" + ("" if base.isnative else ", with its bytes swapped")
    fields = [dtype.fields[name] for name in dtype.names]
    ends = sorted((start, start + field.itemsize) for field, start, *_ in fields)
    if any(end > start for (_, end), (start, _) in itertools.pairwise(ends)):
        return "fields overlap"
    return ""


def record_type(
    dtype: Any, rank: int, ones: tuple[bool | None, ...] = (), *, readonly: bool = False, rows: bool = False
) -> Record:  # fmt: skip
    """The type of a structured array of a dtype that is known; `rows`: it is contiguous."""
    items: list[Type] = []
    for name in dtype.names:
        base, shape = _base(dtype.fields[name][0])
        known = (*(ones or (None,) * rank), *(size == 1 for size in shape)) if ones or shape else ()
        axes = rank + len(shape)
        if base.names:
            items.append(record_type(base, axes, known, readonly=readonly, rows=rows))
            continue
        part = Array(_ELEMENTS.get(base) or _PARTS[base], axes, False, readonly, known, rows=rows)
        items.append(Complex(part, part) if base in _PARTS else part)
    return Record(tuple(dtype.names), tuple(items), dtype, rank)


def leaves_of(type_: Type) -> Iterator[Array]:
    """The arrays in a type of records, in the order of its slots."""
    match type_:
        case Record(_, items):
            for item in items:
                yield from leaves_of(item)
        case Complex(Array() as real, Array() as imag):
            yield real
            yield imag
        case Array():
            yield type_


@dataclass(frozen=True, slots=True)
class RecordMaker:
    """Puts structured arrays (`single`: records of them) together."""

    layout: Any
    rank: int
    single: bool

    def __call__(self, values: tuple[Any, ...]) -> Any:
        """The array of an argument that this is, or None, and the arrays of the leaves: the array that they make up."""
        whole, *parts = values
        if whole is None or whole.dtype != self.layout:
            found = self._view(parts)
            whole = self._put_together(parts) if found is None else found
        return whole[0] if self.single else whole

    def _view(self, parts: list[Any]) -> Any:
        """A view of the memory of an argument, where the parts are its fields; None where they are not.

        The base of such a part is the argument; that of what compiled code made is no array.
        """
        first = next(leaves(self.layout))
        start, rank = parts[0].ctypes.data - first.offset, self.rank
        shape, strides = parts[0].shape[:rank], parts[0].strides[:rank]
        if not parts[0].size:
            return None
        for leaf, part in zip(leaves(self.layout), parts, strict=True):
            steps = zip(part.strides, (*strides, *leaf.steps), part.shape, strict=True)
            alike = all(step == wanted or size == 1 for step, wanted, size in steps)
            if part.ctypes.data != start + leaf.offset or not alike or not isinstance(part.base, np.ndarray):
                return None
        return np.asarray(_Memory(start, shape, strides, self.layout, parts[0])).view(self.layout)

    def _put_together(self, parts: list[Any]) -> Any:
        made = np.zeros(parts[0].shape[: self.rank], self.layout)
        for leaf, part in zip(leaves(self.layout), parts, strict=True):
            place = made
            for name in leaf.path[:-1]:
                place = place[name]
            last = leaf.path[-1]
            if place.dtype.names:
                place[last] = part
            else:  # a part of complex numbers
                setattr(place, last, part)
        return made


class _Memory:
    """Memory of another array, as NumPy is told of it."""

    def __init__(self, start: int, shape: tuple[int, ...], strides: tuple[int, ...], layout: Any, owner: Any) -> None:
        self.owner = owner
        readonly = not owner.flags.writeable
        self.__array_interface__ = {
            "data": (start, readonly), "shape": shape, "strides": strides, "typestr": f"|V{layout.itemsize}",
            "version": 3,
        }  # fmt: skip
