"""Tuples that hold tuples of their own making, to any depth: rows of a heap.

    def chain(n):                                   Tuple((float, None))  |  Tuple((float, Tuple(...
        return (1.0, chain(n - 1)) if n else None   ->  None | Ref(record2 of this display): 0: float, 1: None | itself

Which displays these are shows when a type has no end; they make rows of a heap then, and inference starts again.  Such
a tuple has a fixed number of items; its heap is of the kind record1, record2, ... by that.  NamedTuples of one class
share a heap, wherever they are made.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from pullback.diagnostic import CompileError
from pullback.infer.arithmetic import binary
from pullback.infer.calls import call
from pullback.infer.dispatch import fails
from pullback.infer.engine import Frame, Session
from pullback.infer.heaps import allocate, heap_of, heap_of_type, kind_of, read, write
from pullback.infer.indexing import subscript
from pullback.infer.lattice import WEAK_INT, nesting
from pullback.infer.loops import ITERABLES, Iterable
from pullback.infer.registry import HANDLERS, Handler, prelude
from pullback.infer.structures import unpack
from pullback.infer.truth import compare, negate
from pullback.infer.values import AV, items_of
from pullback.ir.node import Function
from pullback.runtime.boundary import RECORDS
from pullback.types import Constant, Number, Tuple, show

__all__ = ["named_tuple_of", "note_rows", "opened", "tuple_of"]


def tuple_of(cx: Frame, items: Sequence[AV]) -> AV:
    """The tuple display that is being inferred."""
    assert cx.op is not None
    if not cx.op.attrs.get("display"):
        return _fixed(items, None)
    return _made(cx, items, None, (cx.code, cx.op), cx.op.span)


def named_tuple_of(cx: Frame, cls: type, items: Sequence[AV]) -> AV:
    """A NamedTuple of a class."""
    return _made(cx, items, cls, cls, cls)


def _fixed(items: Sequence[AV], cls: type | None) -> AV:
    return AV(Tuple(tuple(item.type for item in items), cls), tuple(v for item in items for v in item.values))


def _made(cx: Frame, items: Sequence[AV], cls: type | None, key: Hashable, place: Hashable) -> AV:
    """A tuple of fixed structure, or a row of the heap of this key where what is made at the place has no end."""
    kind = f"record{len(items)}"
    if (kind, place) not in cx.session.rows:
        made = _fixed(items, cls)
        if kind in RECORDS:
            found = cx.session.displays
            found[kind, key] = max(found.get((kind, key), 0), nesting(made.type))
        return made
    heap = heap_of(cx, kind, key)
    row = AV(heap.type, (allocate(cx, heap),))
    for number, item in enumerate(items):
        write(cx, heap, row.value, str(number), item)
    return row


def note_rows(session: Session, function: Function) -> None:
    """Mark the displays that make rows, for J: what these keep has its sensitivity in the twins of the heap."""
    for op in function.body.walk():
        if op.attrs.get("display") and (f"record{len(op.operands)}", op.span) in session.rows:
            op.attrs["row"] = True


def opened(cx: Frame, record: AV) -> AV:
    """The tuple that lies in a heap as one of fixed structure; others as they are."""
    heap = heap_of_type(record.type)
    if heap is None:
        return record
    items: list[AV] = []
    for number in range(RECORDS[heap.kind]):
        items.append(read(cx, heap, record.value, str(number)))
        if cx.dead:
            return items[-1]
    return _fixed(items, heap.python)


def _getitem(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    subject, index = arguments
    heap, literal = heap_of_type(subject.type), cx.literal_of(index)
    assert heap is not None
    count = RECORDS[heap.kind]
    if isinstance(index.type, Number | Constant) and isinstance(literal, int) and -count <= literal < count:
        return read(cx, heap, subject.value, str(literal % count))
    whole = opened(cx, subject)
    return whole if cx.dead else subscript(cx, whole, index)


def _len(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    count = RECORDS[kind_of(arguments[0].type)]
    return AV(WEAK_INT, (cx.e.integer(count),), count)


def _bool(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    return AV(Constant(True), (), True)


def _unpack(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    whole = opened(cx, arguments[0])
    wanted = arguments[1].literal
    assert isinstance(wanted, int)
    if not cx.dead:
        unpack(cx, whole, wanted)  # is their number right?
    return whole


def _items(cx: Frame, av: AV) -> Iterable:
    whole = opened(cx, av)
    return Iterable([] if cx.dead else items_of(whole))


def _compare(operator: str) -> Handler:
    names = {"==": "equal", "!=": "equal", "<": "less", ">": "less", "<=": "less", ">=": "less"}

    def handler(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        if not all(isinstance(av.type, Tuple) or kind_of(av.type) in ("tuple", *RECORDS) for av in arguments):
            if names[operator] == "equal":
                return AV(Constant(operator == "!="), (), operator == "!=")
            first, second = (show(av.type) for av in arguments)
            raise cx.type_error(f"'{operator}' not supported between instances of '{first}' and '{second}'",
                                "these have no order")  # fmt: skip
        a, b = arguments[::-1] if operator in (">", ">=") else arguments
        more = [AV(Constant(operator in ("<=", ">=")))] if names[operator] == "less" else []
        found = call(cx, prelude(cx, f"pullback.record_{names[operator]}"), [a, b, *more], {})
        return negate(cx, found) if operator == "!=" and not cx.dead else found

    return handler


def _before(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    x, y, last = arguments
    assert isinstance(last.type, Constant)
    try:
        return compare(cx, "<=" if last.type.value else "<", x, y)
    except CompileError as error:
        return fails(cx, error)


def _operator(operator: str, *, swapped: bool = False) -> Handler:
    """An operator of tuples, which gives one of fixed structure."""

    def handler(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        subject, other = opened(cx, arguments[0]), arguments[1]
        return subject if cx.dead else binary(cx, operator, *((other, subject) if swapped else (subject, other)))

    return handler


def _as_of_tuple(name: str) -> Handler:
    return lambda cx, arguments, keywords: HANDLERS[f"tuple.{name}"](cx, arguments, keywords)


def _contains(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    return call(cx, prelude(cx, "pullback.list_contains"), arguments, {})


_READING: dict[str, Handler] = {
    "__getitem__": _getitem, "__len__": _len, "__bool__": _bool, "__unpack__": _unpack, "__contains__": _contains,
    "__add__": _operator("+"), "__radd__": _operator("+", swapped=True), "__mul__": _operator("*"),
    "__rmul__": _operator("*", swapped=True), "index": _as_of_tuple("index"), "count": _as_of_tuple("count"),
    **{f"compare {op}": _compare(op) for op in ("==", "!=", "<", "<=", ">", ">=")},
}  # fmt: skip
HANDLERS["pullback.before"] = _before
for _kind in RECORDS:
    HANDLERS.update({f"{_kind}.{name}": rule for name, rule in _READING.items()})
    ITERABLES[_kind] = _items
