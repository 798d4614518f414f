"""Writing into structured arrays: fields, records, several of either.

    r["x"] = v, a[i]["x"] = v     an element of the field
    a["x"] = b                    the view of the field takes b
    a[i] = (1.0, 2)               each field its item; of records field by field, in their order
    a[:] = 0                      every field
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pullback.infer.assign import ITEMS, set_item
from pullback.infer.calls import call
from pullback.infer.engine import Frame
from pullback.infer.lattice import ELLIPSIS, WEAK_INT
from pullback.infer.records import (
    field_names,
    field_number,
    field_position,
    fields,
    leaf_of,
    model_of,
    number_at,
    picked,
    record_copy,
    record_kind,
    with_fields,
)
from pullback.infer.registry import HANDLERS
from pullback.infer.values import AV, items_of
from pullback.infer.views import fancy_parts, index_parts
from pullback.types import NONE, Array, Builtin, Complex, List, Number, Record, Tuple, show

__all__ = ["assign_whole"]

_WHOLE = AV(ELLIPSIS, (), Ellipsis)


def set_record_item(cx: Frame, subject: AV, index: AV, value: AV) -> None:
    """subject[index] = value"""
    kind, names = record_kind(subject), field_names(index)
    if names is not None and isinstance(index.type, List):
        assign_whole(cx, with_fields(cx, subject, names), value)
        return
    if names is not None:
        _put(cx, items_of(subject)[field_number(cx, kind, names[0])], value, single=kind.single)
        return
    if kind.single:
        _put(cx, items_of(subject)[field_position(cx, kind, index)], value, single=True)
        return
    model = model_of(subject)
    parts = index_parts(cx, model, index)
    if not fancy_parts(parts):
        assign_whole(cx, picked(cx, subject, model, parts), value)
        return
    where = AV(Tuple(tuple(p.type for p in parts)), tuple(v for p in parts for v in p.values))
    _scatter(cx, subject, where, value)


def _put(cx: Frame, target: AV, value: AV, *, single: bool) -> None:
    """A field takes a value."""
    leaf = leaf_of(target).type
    assert isinstance(leaf, Array)
    if single and leaf.rank == 1 and not isinstance(target.type, Record):
        set_item(cx, target, AV(WEAK_INT, (cx.e.integer(0),), 0), value)
        return
    inner = number_at(cx, target) if single else target
    if isinstance(inner.type, Record):
        assign_whole(cx, inner, value)
    else:
        set_item(cx, inner, _WHOLE, value)


def assign_whole(cx: Frame, target: AV, value: AV) -> None:
    """target[...] = value"""
    kind = record_kind(target)
    for item, part in zip(items_of(target), _parts(cx, target, value), strict=True):
        _put(cx, item, part, single=kind.single)


def _scatter(cx: Frame, subject: AV, where: AV, value: AV) -> None:
    """subject[where] = value, where index arrays or masks are in the index."""
    for item, part in zip(items_of(subject), _parts(cx, subject, value), strict=True):
        if isinstance(item.type, Record):
            _scatter(cx, item, where, part)
        else:
            set_item(cx, item, where, part)


def _parts(cx: Frame, target: AV, value: AV) -> list[AV]:
    """What each field takes of a value: of a tuple or of records by position, all the same of a number."""
    kind = record_kind(target)
    if isinstance(value.type, List):
        value = call(cx, AV(Builtin("numpy.array")), [value], {"dtype": HANDLERS["record.dtype"](cx, [target], {})})
    match value.type:
        case Tuple(items):
            if len(items) != len(kind.names):
                title = f"could not assign tuple of length {len(items)} to structure with {len(kind.names)} fields."
                raise cx.error(title, f"the fields are {', '.join(kind.names)}", raised=("ValueError", title))
            return items_of(value)
        case Record(names):
            if len(names) != len(kind.names):
                raise cx.error(f"records of {len(names)} fields cannot be written into those of {len(kind.names)}",
                               f"{show(value.type)} into {show(target.type)}")  # fmt: skip
            # Fields that change places would be read after they are written.
            return fields(cx, value if value.type.layout == kind.layout else record_copy(cx, value))
        case Number() | Array() | Complex():
            return [value] * len(kind.names)
    raise cx.error(f"{show(target.type)} cannot take {show(value.type)}", "a tuple, a number or records are needed",
                   "write a tuple with an item for each field")  # fmt: skip


def _fill(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """a.fill(value)"""
    assign_whole(cx, given[0], given[1])
    return AV(NONE)


ITEMS[Record] = set_record_item
HANDLERS["record.fill"] = _fill
