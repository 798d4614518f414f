"""Tuples that hold tuples of their own making, to any depth: rows of a heap.

    def chain(n):                                   Tuple((float, None))  |  Tuple((float, Tuple(...
        return (1.0, chain(n - 1)) if n else None   ->  None | Ref(record2 of this display): 0: float, 1: None | itself

Which displays these are shows when a type has no end; they make rows of a heap then, and inference starts again.  Such
a tuple has a fixed number of items; its heap is of the kind record1, record2, ... by that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pullback.infer.calls import call
from pullback.infer.engine import Frame, Session
from pullback.infer.heaps import allocate, heap_of, heap_of_type, read, write
from pullback.infer.indexing import subscript
from pullback.infer.lattice import WEAK_INT, nesting
from pullback.infer.loops import ITERABLES, Iterable
from pullback.infer.numbers import as_number
from pullback.infer.registry import HANDLERS, Handler, prelude
from pullback.infer.structures import unpack
from pullback.infer.values import AV, items_of
from pullback.ir.node import Function
from pullback.types import Constant, Tuple

__all__ = ["MOST_ITEMS", "note_rows", "tuple_of"]

MOST_ITEMS = 32


def tuple_of(cx: Frame, items: Sequence[AV]) -> AV:
    """The tuple display that is being inferred."""
    type_ = Tuple(tuple(item.type for item in items))
    assert cx.op is not None
    key = (cx.code, cx.op)
    kind = f"record{len(items)}"
    written = bool(cx.op.attrs.get("display"))
    if not written or (kind, cx.op.span) not in cx.session.rows:
        if written and len(items) <= MOST_ITEMS:
            found = cx.session.displays
            found[kind, key] = max(found.get((kind, key), 0), nesting(type_))
        return AV(type_, tuple(v for item in items for v in item.values))
    heap = heap_of(cx, kind, key)
    made = AV(heap.type, (allocate(cx, heap),))
    for number, item in enumerate(items):
        write(cx, heap, made.value, str(number), item)
    return made


def note_rows(session: Session, function: Function) -> None:
    """Mark the displays that make rows, for J: what these keep has its sensitivity in the twins of the heap."""
    for op in function.body.walk():
        if op.attrs.get("display") and (f"record{len(op.operands)}", op.span) in session.rows:
            op.attrs["row"] = True


def _opened(cx: Frame, record: AV) -> AV:
    """The record as a tuple of its items."""
    heap = heap_of_type(record.type)
    assert heap is not None
    items: list[AV] = []
    for number in range(int(heap.kind.removeprefix("record"))):
        items.append(read(cx, heap, record.value, str(number)))
        if cx.dead:
            return items[-1]
    return AV(Tuple(tuple(item.type for item in items)), tuple(v for item in items for v in item.values))


def _getitem(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    subject, index = arguments
    heap, literal = heap_of_type(subject.type), cx.literal_of(index)
    assert heap is not None
    count = int(heap.kind.removeprefix("record"))
    if isinstance(literal, int) and -count <= literal < count:
        return read(cx, heap, subject.value, str(literal % count))
    opened = _opened(cx, subject)
    return opened if cx.dead else subscript(cx, opened, index)


def _len(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    heap = heap_of_type(arguments[0].type)
    assert heap is not None
    count = int(heap.kind.removeprefix("record"))
    return AV(WEAK_INT, (cx.e.integer(count),), count)


def _bool(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    return AV(Constant(True), (), True)


def _unpack(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    opened = _opened(cx, arguments[0])
    wanted = arguments[1].literal
    assert isinstance(wanted, int)
    if not cx.dead:
        unpack(cx, opened, wanted)  # is their number right?
    return opened


def _items(cx: Frame, av: AV) -> Iterable:
    opened = _opened(cx, av)
    return Iterable([] if cx.dead else items_of(opened))


def _compare(operator: str) -> Handler:
    names = {"==": "equal", "!=": "equal", "<": "less", ">": "less", "<=": "less", ">=": "less"}

    def handler(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        a, b = arguments[::-1] if operator in (">", ">=") else arguments
        more = [AV(Constant(operator in ("<=", ">=")))] if names[operator] == "less" else []
        found = call(cx, prelude(cx, f"pullback.record_{names[operator]}"), [a, b, *more], {})
        if operator != "!=" or not found.values:
            return found
        return AV(found.type, (cx.e("not_", as_number(cx, found).value),))

    return handler


def _contains(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    return call(cx, prelude(cx, "pullback.list_contains"), arguments, {})


for _count in range(1, MOST_ITEMS + 1):
    HANDLERS.update({
        f"record{_count}.{name}": rule
        for name, rule in {
            "__getitem__": _getitem, "__len__": _len, "__bool__": _bool, "__unpack__": _unpack,
            "__contains__": _contains, **{f"compare {op}": _compare(op) for op in ("==", "!=", "<", "<=", ">", ">=")},
        }.items()
    })  # fmt: skip
    ITERABLES[f"record{_count}"] = _items
