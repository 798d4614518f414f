"""Subscripts: elements and rows of arrays, items of tuples, lists and dicts."""

from __future__ import annotations

import operator
from collections.abc import Sequence

from pullback.infer.advice import nearest
from pullback.infer.asked import Ask
from pullback.infer.complexes import complex_of, halves
from pullback.infer.containers import changed, special
from pullback.infer.dispatch import dispatch
from pullback.infer.engine import Frame
from pullback.infer.enums import class_item
from pullback.infer.fancy import take, take_mask_parts
from pullback.infer.filling import copy
from pullback.infer.lattice import MOST_TEXTS
from pullback.infer.lists import range_length
from pullback.infer.records import record_item
from pullback.infer.registry import HANDLERS
from pullback.infer.samples import python_error
from pullback.infer.sites import without_sites
from pullback.infer.static import static_int
from pullback.infer.texts import text_item, text_slice
from pullback.infer.values import AV, items_of
from pullback.infer.views import checked_index, fancy_parts, holds_scalar_arrays, index_parts, indexed, range_slice
from pullback.ir.node import Value
from pullback.runtime.errors import REPR
from pullback.runtime.fixed import is_static
from pullback.types import (
    Array,
    Builtin,
    Class,
    Complex,
    Dict,
    DType,
    List,
    NoneType,
    Number,
    Range,
    Record,
    Ref,
    Scalar,
    Slice,
    Str,
    Text,
    Tuple,
    show,
    with_items,
)

__all__ = ["select_item", "subscript"]


def subscript(cx: Frame, subject: AV, index: AV) -> AV:
    """subject[index], reading."""
    return dispatch(cx, [subject, index], lambda cx, operands: _subscript(cx, operands[0], operands[1], index.literal))


def _subscript(cx: Frame, subject: AV, index: AV, literal: object) -> AV:
    given = AV(index.type, index.values, literal)
    match subject.type:
        case Ref() | Tuple(_, type()) if (own := special(cx, "__getitem__", subject, given)) is not None:
            return own
        case Tuple(items) | List(items):
            return _item(cx, subject, index, literal, len(items))
        case Dict(keys, _):
            return _entry(cx, subject, index, keys)
        case Array():
            parts = index_parts(cx, subject, AV(index.type, index.values, literal))
            if fancy_parts(parts):
                return take(cx, subject, parts)
            found = indexed(cx, subject, parts)
            copied = subject.type.flat or holds_scalar_arrays(index)
            return copy(cx, found) if isinstance(found.type, Array) and copied else found
        case Record():
            return record_item(cx, subject, AV(index.type, index.values, literal))
        case Complex():
            given = AV(index.type, index.values, literal)
            both = take_mask_parts(cx, *halves(subject), given)
            return complex_of(*(both or (subscript(cx, part, given) for part in halves(subject))))
        case Str() | Text():
            given = AV(index.type, index.values, literal)
            return text_slice(cx, subject, given) if isinstance(index.type, Slice) else text_item(cx, subject, given)
        case Class(python):
            return class_item(cx, python, index)
        case Builtin(name) if f"{name}.__getitem__" in HANDLERS:
            return HANDLERS[f"{name}.__getitem__"](cx, [AV(index.type, index.values, literal)], {})
        case Range():
            if isinstance(index.type, Slice):
                return range_slice(cx, subject, index)
            start, _, step = subject.values
            k = checked_index(cx, index, range_length(cx, subject), "IndexError", "range object index out of range")
            return AV(Number(DType.I64), (cx.e("add", start, cx.e("mul", k, step)),))
    raise cx.error(f"{show(subject.type)} cannot be indexed", "tuples, lists, dicts and arrays can",
                   raised=python_error(operator.getitem, subject.type, index.type))  # fmt: skip


def _entry(cx: Frame, subject: AV, index: AV, keys: Sequence[str]) -> AV:
    assert isinstance(subject.type, Dict)
    if not isinstance(index.type, Str):
        changed(cx, subject, f"indexed with {show(index.type)}: its keys are strings known while compiling")
    assert isinstance(index.type, Str)
    if index.type.value not in keys:
        label = "its keys are " + ", ".join(map(repr, keys)) if keys else "it is empty"
        raise cx.error(f"the dict has no key {index.type.value!r}", label, nearest(index.type.value, keys),
                       raised=("KeyError", f"{REPR}{index.type.value!r}"))  # fmt: skip
    return items_of(subject)[keys.index(index.type.value)]


def _item(cx: Frame, subject: AV, index: AV, literal: object, count: int) -> AV:
    word = "tuple" if isinstance(subject.type, Tuple) else "list"
    if isinstance(index.type, Slice):
        return _slice_items(cx, subject, index)
    if not isinstance(literal, int):
        literal = _wanted_position(cx, subject, index)
    if isinstance(literal, int):
        if not -count <= literal < count:
            plural = "" if count == 1 else "s"
            raise cx.error(f"{word} index out of range", f"index {literal} of a {word} of {count} item{plural}",
                           raised=("IndexError", f"{word} index out of range"))  # fmt: skip
        return items_of(subject)[literal]
    if count == 0:  # as in Python, an error where this is reached: in a loop over its items it is not
        cx.check(cx.e.boolean(False), "IndexError", f"{word} index out of range")
        return cx.stop()
    k = checked_index(cx, index, cx.e.integer(count), "IndexError", f"{word} index out of range")
    return select_item(cx, items_of(subject), k)


def _wanted_position(cx: Frame, subject: AV, index: AV) -> int | None:
    """The position of an item, where it is known; it must be where the items are of several types."""
    if not is_static(index.type):
        return None
    number = cx.number_of(index)
    kinds = {without_sites(item.type) for item in items_of(subject)}
    # Strings are told apart while running, so no loop need be written out for them.
    texts = len(kinds) <= MOST_TEXTS and all(isinstance(kind, Str) for kind in kinds)
    if number is None and len(kinds) > 1 and not texts and _can_be_known(cx, index):
        return static_int(cx, index, "the index of a tuple of several types")
    if number is not None and len(kinds) == 1 and not -len(items_of(subject)) <= number < len(items_of(subject)):
        return None  # computed, not written: an IndexError while running, as in Python
    return number


def _can_be_known(cx: Frame, index: AV) -> bool:
    asks: set[Ask] = set()
    return cx.definitions.trace(index.value, asks) is None and not asks <= cx.session.asked.asks


def _slice_items(cx: Frame, subject: AV, index: AV) -> AV:
    bounds: list[int | None] = []
    for part in items_of(index):
        bounds.append(None if isinstance(part.type, NoneType) else static_int(cx, part, "the bound of a slice"))
    items = items_of(subject)[slice(*bounds)]
    assert isinstance(subject.type, Tuple | List)
    return AV(with_items(subject.type, [i.type for i in items]), tuple(v for i in items for v in i.values))


def select_item(cx: Frame, items: Sequence[AV], k: Value) -> AV:
    """The k-th item, 0 <= k < len(items), chosen at run time."""
    simple = all(i.type == items[0].type and all(isinstance(v.type, Scalar) for v in i.values) for i in items)
    if simple:
        values = items[-1].values
        for number in reversed(range(len(items) - 1)):
            hit = cx.e("eq", k, cx.e.integer(number))
            pairs = zip(items[number].values, values, strict=True)
            values = tuple(cx.e("select", hit, x, y) for x, y in pairs)
        return AV(items[0].type, values)

    def rest(number: int) -> AV:
        if number == len(items) - 1:
            return items[number]
        hit = cx.e("eq", k, cx.e.integer(number))
        (result,) = cx.choose(hit, lambda: [items[number]], lambda: [rest(number + 1)])
        return result

    return rest(0)
