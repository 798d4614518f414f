"""Structured arrays and records of them: fields, items, what steps through them.

    a["x"]            the view of a field       a[["x", "y"]]     those fields, as a structured array
    a[i], a[1:-1]     each field so: a record is a view, as NumPy's is
    r["x"], r[0]      the number that the field has now, or the view of an array in it

A structured array is its fields (`types.Record`), so what maps to each field alike needs no more than `mapped`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from pullback.diagnostic import CompileError
from pullback.infer.advice import nearest
from pullback.infer.complexes import complex_of, halves
from pullback.infer.engine import Frame
from pullback.infer.fancy import take
from pullback.infer.filling import copy
from pullback.infer.lattice import ELLIPSIS
from pullback.infer.values import AV, items_of
from pullback.infer.views import array_of, fancy_parts, holds_scalar_arrays, index_parts, is_element, view
from pullback.ir.node import Value
from pullback.types import Array, Complex, List, NoneType, Number, Record, Slice, Str, Tuple, Type, show

__all__ = [
    "field", "field_names", "field_number", "field_position", "fields", "leaf_of", "mapped", "model_of", "not_single",
    "number_at",    "picked", "record_at", "record_copy", "record_item", "record_kind", "taken", "with_fields",
]  # fmt: skip

Rule = Callable[[AV], AV]


def record_kind(av: AV) -> Record:
    """The type of a structured array."""
    assert isinstance(av.type, Record)
    return av.type


def leaf_of(av: AV) -> AV:
    """The first array of numbers in it."""
    while not isinstance(av.type, Array):
        av = halves(av)[0] if isinstance(av.type, Complex) else items_of(av)[0]
    return av


def model_of(av: AV) -> AV:
    """An array with the axes of the whole, to be asked for sizes and for what an index means."""
    leaf, rank = leaf_of(av), record_kind(av).rank
    assert isinstance(leaf.type, Array)
    return AV(replace(leaf.type, rank=rank, ones=leaf.type.ones[:rank], contiguous=False), leaf.values)


def mapped(av: AV, rule: Rule, rank: int, *, single: bool = False) -> AV:
    """A structured array, or a field of one, of what a rule makes of its arrays; `rank`: of the whole."""
    match av.type:
        case Complex():
            return complex_of(*(rule(part) for part in halves(av)))
        case Record(names, _, layout, old, _):
            found: list[AV] = []
            for item in items_of(av):
                own = item.type.rank - old if isinstance(item.type, Record) else 0
                found.append(mapped(item, rule, rank + own, single=single and own == 0))
            types, values = tuple(part.type for part in found), tuple(v for part in found for v in part.values)
            return AV(Record(names, types, layout, rank, single), values)
    return rule(av)


def _first(cx: Frame, item: AV) -> AV:
    """What is at the only place of a field of a record: a view without the first axis."""

    def rule(leaf: AV) -> AV:
        assert isinstance(leaf.type, Array)
        return array_of(cx.e("view_index", leaf.value, cx.e.integer(0), axis=0), leaf.type, leaf.type.ones[1:])

    return mapped(item, rule, item.type.rank - 1 if isinstance(item.type, Record) else 0)


def not_single(cx: Frame, av: AV) -> AV:
    """A record as a structured array without axes."""
    return _first(cx, av) if record_kind(av).single else av


def with_fields(cx: Frame, subject: AV, names: Sequence[str]) -> AV:
    """a[["x", "y"]]: a view of these fields."""
    kind = record_kind(subject)
    if len(set(names)) < len(names):
        raise cx.error("an index cannot name a field twice", "NumPy refuses this too")
    found = [items_of(subject)[field_number(cx, kind, name)] for name in names]
    layout = np.empty(0, kind.layout)[list(names)].dtype  # type: ignore[call-overload]
    types, values = tuple(part.type for part in found), tuple(v for part in found for v in part.values)
    return AV(Record(tuple(names), types, layout, kind.rank, kind.single), values)


def field_number(cx: Frame, kind: Record, name: str) -> int:
    """Which field a name is of."""
    if name not in kind.names:
        raise cx.error(f"no field of name {name}", f"the fields are {', '.join(kind.names)}", nearest(name, kind.names),
                       raised=("ValueError", f"no field of name {name}"))  # fmt: skip
    return kind.names.index(name)


def field(cx: Frame, subject: AV, number: int) -> AV:
    """A field: of a record the number that it holds now, otherwise a view."""
    found, kind = items_of(subject)[number], record_kind(subject)
    if kind.single:
        return number_at(cx, found)
    whole = kind.layout
    assert isinstance(whole, np.dtype)
    own = whole[number]
    return _with_gaps(found, 1 if own.itemsize < whole.itemsize and not own.shape else 2)


def _with_gaps(item: AV, gaps: int) -> AV:
    """A field, between whose elements other fields lie; those of fields that are arrays lie in groups."""
    if isinstance(item.type, Record):
        return item  # its fields will have them

    def rule(leaf: AV) -> AV:
        assert isinstance(leaf.type, Array)
        return AV(replace(leaf.type, gaps=gaps), leaf.values)

    return mapped(item, rule, 0)


def fields(cx: Frame, subject: AV) -> list[AV]:
    """All fields."""
    return [field(cx, subject, number) for number in range(len(record_kind(subject).names))]


def number_at(cx: Frame, item: AV) -> AV:
    """The field of a record: the number now, or the view of what each record has of it."""
    match item.type:
        case Array(dtype, 1):
            return AV(Number(dtype, weak=False), (cx.e("array_get", item.value, cx.e.integer(0)),))
        case Complex(Array(_, 1), _):
            return complex_of(*(number_at(cx, part) for part in halves(item)))
        case Record(single=True):
            return item
    return _first(cx, item)


def field_names(index: AV) -> list[str] | None:
    """The names of fields that an index gives; None for an index that is no name and no list of names."""
    if isinstance(index.type, Str):
        return [index.type.value]
    if isinstance(index.type, List) and index.type.items and all(isinstance(t, Str) for t in index.type.items):
        return [t.value for t in index.type.items if isinstance(t, Str)]
    return None


def record_item(cx: Frame, subject: AV, index: AV) -> AV:
    """subject[index], reading."""
    kind, names = record_kind(subject), field_names(index)
    if names is not None:
        if isinstance(index.type, List):
            return with_fields(cx, subject, names)
        return field(cx, subject, field_number(cx, kind, names[0]))
    if kind.single:
        return field(cx, subject, field_position(cx, kind, index))
    model = model_of(subject)
    parts = index_parts(cx, model, index)
    found = picked(cx, subject, model, parts)
    return record_copy(cx, found) if holds_scalar_arrays(index) and not fancy_parts(parts) else found


def field_position(cx: Frame, kind: Record, index: AV) -> int:
    """Which field an int is of."""
    number = None if isinstance(index.type, Slice | Tuple) else cx.number_of(index)
    if number is None:
        raise _no_position(cx, kind, index.type)
    if not -len(kind.names) <= number < len(kind.names):
        raise cx.error("invalid index", f"field {number} of {len(kind.names)}", raised=("IndexError", "invalid index"))
    return number % len(kind.names)


def _no_position(cx: Frame, kind: Record, index: Type) -> CompileError:
    return cx.error(f"a record cannot be indexed with {show(index)}", f"its fields are {', '.join(kind.names)}",
                    "write the name of a field")  # fmt: skip


def picked(cx: Frame, subject: AV, model: AV, parts: Sequence[AV]) -> AV:
    """The records at an index, as a view, or a copy where NumPy makes one."""
    if fancy_parts(parts):
        return taken(cx, subject, parts)
    plain = [part for part in parts if not isinstance(part.type, Slice) and part.type != ELLIPSIS]
    added = sum(isinstance(part.type, NoneType) for part in plain)
    rank = record_kind(subject).rank + 2 * added - len(plain)
    if is_element(model, parts):
        return mapped(subject, lambda leaf: _expanded(cx, view(cx, leaf, parts)), 1, single=True)
    return mapped(subject, lambda leaf: view(cx, leaf, parts), rank)


def _expanded(cx: Frame, leaf: AV) -> AV:
    """With a first axis of size 1."""
    assert isinstance(leaf.type, Array)
    ones = (True, *(leaf.type.is_one(axis) for axis in range(leaf.type.rank)))
    return array_of(cx.e("view_expand", leaf.value, axis=0), leaf.type, ones)


def taken(cx: Frame, subject: AV, parts: Sequence[AV]) -> AV:
    """A copy of the records that index arrays or a mask pick."""
    rank, before = 0, record_kind(subject).rank

    def rule(leaf: AV) -> AV:
        nonlocal rank
        found = take(cx, leaf, parts)
        assert isinstance(found.type, Array) and isinstance(leaf.type, Array)
        rank = found.type.rank - (leaf.type.rank - before)
        return found

    return _of_rank(mapped(subject, rule, before), rank)


def _of_rank(av: AV, rank: int) -> AV:
    """The same values, whose whole has another rank than was thought."""
    kind = record_kind(av)

    def rebuilt(item: Type) -> Type:
        if not isinstance(item, Record):
            return item
        return replace(item, rank=item.rank - kind.rank + rank, items=tuple(map(rebuilt, item.items)))

    return AV(replace(kind, rank=rank, items=tuple(map(rebuilt, kind.items))), av.values)


def record_at(cx: Frame, subject: AV, index: Value) -> AV:
    """Record (or row) number `index`, which is in range, of the first axis."""

    rank, one = record_kind(subject).rank - 1, cx.e.integer(1)

    def rule(leaf: AV) -> AV:
        assert isinstance(leaf.type, Array)
        if rank:
            return array_of(cx.e("view_index", leaf.value, index, axis=0), leaf.type, leaf.type.ones[1:])
        ones = (True, *(leaf.type.is_one(axis) for axis in range(1, leaf.type.rank)))
        return array_of(cx.e("view_slice", leaf.value, index, one, one, axis=0, unit=True), leaf.type, ones)

    return mapped(subject, rule, max(rank, 1), single=rank == 0)


def record_copy(cx: Frame, subject: AV) -> AV:
    """A fresh structured array, or record, of the same content."""
    kind = record_kind(subject)
    return mapped(subject, lambda leaf: copy(cx, leaf), kind.rank, single=kind.single)
