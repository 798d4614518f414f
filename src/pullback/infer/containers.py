"""What containers of run-time size have in common: how operators reach their kind, and what the prelude is made of.

    len(xs), xs[i], x in xs, for x in xs       HANDLERS["list.__len__"], ["list.__getitem__"], ...  by the heap's kind
    field(xs, "length")                        intrinsics by which the prelude reads and writes rows of heaps
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pullback.diagnostic import InternalError
from pullback.infer.engine import Frame
from pullback.infer.heaps import allocate, heap_of_type, kind_of, read, table_of, write
from pullback.infer.lattice import WEAK_BOOL
from pullback.infer.protocols import call_special
from pullback.infer.registry import HANDLERS, Handler
from pullback.infer.sites import Changed
from pullback.infer.values import AV, items_of
from pullback.ir.node import Value
from pullback.prims.base import get
from pullback.runtime.boundary import RECORDS
from pullback.types import NONE, Constant, Dict, DType, List, NoneType, Number, Str, Tuple, show

__all__ = ["FIELDS", "changed", "message_of_value", "special"]

FIELDS = {"items": ("item",), "entries": ("key", "value", "alive"), "places": ("entry",)}  # of rows that are moved


def special(cx: Frame, method: str, subject: AV, *arguments: AV) -> AV | None:
    """subject.method(...) for a container in a heap, an object or a NamedTuple; None where it has no such method."""
    kind = kind_of(subject.type)
    if kind == "object" or kind in RECORDS or isinstance(subject.type, Tuple):
        found = call_special(cx, method, subject, *arguments)
        if found is not None or kind == "object":
            return found
    handler = HANDLERS.get(f"{kind}.{method}")
    return None if handler is None else handler(cx, [subject, *arguments], {})


def changed(cx: Frame, subject: AV, how: str = "changed in compiled code yet") -> None:
    """Guard: a list or dict of fixed structure is about to be changed; its sites make references instead."""
    assert isinstance(subject.type, List | Dict)
    if subject.type.sites and subject.type.sites.isdisjoint(cx.session.heaps):
        raise Changed(subject.type.sites)
    kind = "list" if isinstance(subject.type, List) else "dict"
    raise cx.error(f"a {kind} given by Python cannot be {how}", f"this is {show(subject.type)}",
                   f"change a copy: {kind}(...)")  # fmt: skip


# --------------------------------------------------------------------------------------------------- messages


def message_of_value(av: AV) -> tuple[str, list[Value]]:
    """The value as repr() shows it, with {0}, {1}, ... for the numbers of the payload."""
    payload: list[Value] = []
    return _shown(av, payload), payload


def _shown(av: AV, payload: list[Value]) -> str:
    match av.type:
        case Str(text):
            return repr(text)
        case NoneType():
            return "None"
        case Constant(value):
            return repr(value)
        case Number(dtype, weak):
            payload.append(av.value)
            place = f"{{{len(payload) - 1}}}"
            return place if weak else f"np.{'bool_' if dtype is DType.BOOL else dtype.title}({place})"
        case Tuple():
            parts = [_shown(item, payload) for item in items_of(av)]
            return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
    return show(av.type)


# -------------------------------------------------------------------------------------------------- intrinsics


def _name(av: AV) -> str:
    if not isinstance(av.type, Str):
        raise InternalError("the name of a field is written out")
    return av.type.value


def _field(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """field(x, "name"): what stands in a field of a row."""
    subject, name = arguments
    heap = heap_of_type(subject.type)
    assert heap is not None
    return read(cx, heap, subject.value, _name(name))


def _put_field(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """put_field(x, "name", value)."""
    subject, name, value = arguments
    heap = heap_of_type(subject.type)
    assert heap is not None
    write(cx, heap, subject.value, _name(name), value)
    return AV(NONE)


def _row(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """row(x, k): the row k rows after x, of the same heap."""
    subject, k = arguments
    return AV(subject.type, (cx.e("add", subject.value, k.value),))


def _rows(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """rows(x, n): n new rows of the heap of x."""
    subject, count = arguments
    heap = heap_of_type(subject.type)
    assert heap is not None
    return AV(subject.type, (allocate(cx, heap, count.value),))


def _at_end(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """at_end(x, n): are the n rows from x the last of the heap."""
    subject, count = arguments
    heap = heap_of_type(subject.type)
    assert heap is not None
    end = cx.e("table_length", table_of(cx, heap))
    return AV(WEAK_BOOL, (cx.e("eq", cx.e("add", subject.value, count.value), end),))


def _copy_row(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """copy_row(x, y): every field of x becomes that of y, a row of the same heap."""
    target, source = arguments
    heap = heap_of_type(target.type)
    assert heap is not None and heap == heap_of_type(source.type)
    table = table_of(cx, heap)
    for column, slot in enumerate(heap.columns):
        attrs: dict[str, object] = {"column": column, "type": slot}
        value = cx.e.append(get("table_get"), [table, source.value], attrs=attrs, types=[slot]).result
        cx.e.append(get("table_set"), [table, target.value, value], attrs={"column": column}, types=())
    heap.missed.update(FIELDS[heap.kind])  # one that is learned later means another copy
    return AV(NONE)


def _intrinsic(rule: Callable[[Frame, Sequence[AV]], AV]) -> Handler:
    return lambda cx, arguments, keywords: rule(cx, arguments)


HANDLERS.update({
    "pullback.field": _field, "pullback.put_field": _put_field, "pullback.row": _row, "pullback.rows": _rows,
    "pullback.at_end": _at_end, "pullback.copy_row": _copy_row,
})  # fmt: skip
