"""Numbers inside types: where they are, and types that say which ones they are.

    leaves(Tuple((Array, int)))              ((1,), int, slot 1)
    fix(Tuple((Array, int)), {(1,): 2})      Tuple((Array, int 2))
    loose(Tuple((Array, int 2)))             Tuple((Array, int))
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from pullback.types import (
    Closure,
    Dict,
    DType,
    Fixed,
    List,
    Number,
    Range,
    Ref,
    Slice,
    Transformed,
    Tuple,
    Type,
    rebuilt,
    slots,
)  # fmt: skip
from pullback.types import Iterator as LazyIterator

__all__ = ["Path", "fix", "fixed_leaves", "is_static", "leaves", "loose", "references", "slot_at", "value_at"]

_INT = Number(DType.I64)

Path = tuple[int | str, ...]
"""The way to a part of a structure, by position, or of an object by the name of the field."""


def _parts(type_: Type) -> tuple[Type, ...]:
    match type_:
        case Tuple(items) | List(items) | Dict(_, items) | LazyIterator(_, items) | Slice(items):
            return items
        case Closure(_, captured, _):
            return captured
        case Transformed(_, function, _):
            return (function,)
        case _:
            return ()


def _with_parts(type_: Type, parts: Sequence[Type]) -> Type:
    match type_:
        case Tuple() | List() | Dict():
            return rebuilt(type_, parts)
        case LazyIterator():
            return replace(type_, parts=tuple(parts))
        case Slice():
            first, last, step = parts
            return Slice((first, last, step))
        case Closure():
            return replace(type_, captured=tuple(parts))
        case Transformed():
            return replace(type_, function=parts[0])
        case _:
            return type_


def is_static(type_: Type) -> bool:
    """May code be made for values of the type: ints and bools."""
    return isinstance(type_, Number) and not type_.dtype.is_float


def leaves(type_: Type, path: Path = (), slot: int = 0) -> Iterator[tuple[Path, Number | Fixed, int]]:
    """The ints and bools in a structure, known or not: where, of which type, and in which slot."""
    if isinstance(type_, Fixed) or (isinstance(type_, Number) and is_static(type_)):
        yield path, type_, slot
    if isinstance(type_, Range):
        for position, number in enumerate(type_.numbers):
            yield (*path, position), _INT if number is None else Fixed(number, _INT), slot + position
    for position, part in enumerate(_parts(type_)):
        yield from leaves(part, (*path, position), slot)
        slot += len(slots(part))


def fixed_leaves(type_: Type) -> Iterator[tuple[Path, Fixed, int]]:
    """Those of which the type says which number they are."""
    for path, leaf, slot in leaves(type_):
        if isinstance(leaf, Fixed):
            yield path, leaf, slot


def references(type_: Type, path: Path = ()) -> Iterator[tuple[Path, Ref]]:
    """The references in a structure, and where."""
    if isinstance(type_, Ref):
        yield path, type_
    for position, part in enumerate(_parts(type_)):
        yield from references(part, (*path, position))


def slot_at(type_: Type, path: Path) -> int | None:
    """The slot of the int or bool at a place; None if there is none there."""
    return next((slot for found, _, slot in leaves(type_) if found == path), None)


def fix(type_: Type, values: Mapping[Path, int], path: Path = ()) -> Type:
    """The type with the numbers that stand at some places."""
    if not values:
        return type_
    if isinstance(type_, Number) and path in values:
        return Fixed(values[path], type_)
    if isinstance(type_, Range):
        first, count, step = (values.get((*path, k), number) for k, number in enumerate(type_.numbers))
        return Range((first, count, step))
    parts = _parts(type_)
    found = [fix(part, values, (*path, position)) for position, part in enumerate(parts)]
    return type_ if list(parts) == found else _with_parts(type_, found)


def loose(type_: Type) -> Type:
    """The type without numbers."""
    if isinstance(type_, Fixed):
        return type_.of
    if isinstance(type_, Range):
        return Range()
    parts = _parts(type_)
    found = [loose(part) for part in parts]
    return type_ if list(parts) == found else _with_parts(type_, found)


def value_at(value: object, path: Path) -> int | None:
    """The int or bool at a place in a Python object; None if there is none (there was one in another call)."""
    for position in path:
        if isinstance(position, str):
            value = getattr(value, position, None)
        elif isinstance(value, dict | tuple | list) and position < len(value):
            value = list(value.values())[position] if isinstance(value, dict) else value[position]
        else:
            return None
    return int(value) if isinstance(value, int | np.integer | np.bool_) else None
