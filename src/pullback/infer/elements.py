"""What a loop steps through, paired with backpropagators of its elements.

    for x in a          ->      (a[0], b0), (a[1], b1), ...         bk(d): the sensitivity of a of which element k has d
    for i, x in enumerate(a)    ((0, a[0]), c0), ...                ck(d): (bk of part 1 of d, zero)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from pullback.infer.binding import pack_tuple
from pullback.infer.engine import Code, Frame
from pullback.infer.lattice import WEAK_INT
from pullback.infer.loops import PAIRED, Iterable, iterable
from pullback.infer.made import back_function
from pullback.infer.rules import as_whole
from pullback.infer.sensitivities import sensitive
from pullback.infer.values import AV, items_of
from pullback.ir.build import Builder
from pullback.ir.node import Block, Value
from pullback.prims.base import get
from pullback.types import BOOL, I64, Array, Closure, Iterator, List, Number, Scalar, Tuple, show

__all__: list[str] = []

Position = int | Value  # of an element: known while compiling or not


def _paired(cx: Frame, subject: AV, source: Iterable, level: int) -> Iterable:
    """The source with pairs in place of its elements, `level` times."""
    if source.count is None and source.items is None:
        raise _refused(cx, subject)

    def pair(cx: Frame, element: AV, position: Position) -> AV:
        back = _back_of(cx, subject, position)
        for number in range(level):
            element = pack_tuple([element, back])
            if number + 1 < level:
                back = _closure(cx, ("outer", number), [back], _outer)
        return element

    if source.items is not None:
        return replace(source, items=[pair(cx, item, k) for k, item in enumerate(source.items)])
    element = source.element
    assert element is not None
    return replace(source, element=lambda cx, k: pair(cx, element(cx, k), k), tables=(), steps=None)


PAIRED.append(_paired)


def _refused(cx: Frame, subject: AV) -> Exception:
    return cx.error(f"a loop over {show(subject.type)} has no backpropagator in the formulation by closures",
                    "this cannot be differentiated by closures",
                    "differentiate it in the default formulation")  # fmt: skip


Body = Callable[[Builder, Sequence[Value], Value], Value]


def _closure(cx: Frame, key: object, captured: Sequence[AV], body: Body) -> AV:
    """A backpropagator of an element: what it captured and d -> the sensitivity of what the loop steps through."""
    name = ("element", key, len(captured))
    code = cx.session.codes.get(name)
    if code is None:
        params = [Value(None, f"x{i}") for i in range(len(captured))]
        given = Value(None, "d")
        builder = Builder(Block([*params, given]), cx.span)
        builder.block.results = [body(builder, params, given)]
        code = Code(back_function("element", builder.block, tuple(v.name for v in params)), {})
        cx.session.codes[name] = code
    type_ = Closure(code, tuple(av.type for av in captured), "element")
    return AV(type_, tuple(v for av in captured for v in av.values))


def _emit(builder: Builder, name: str, operands: Sequence[Value] = (), /, **attrs: object) -> Value:
    return builder.append_untyped(get(f"py.{name}"), operands, attrs=attrs).result


def _outer(builder: Builder, captured: Sequence[Value], given: Value) -> Value:
    """Of a pair (element, its backpropagator) only the element has a sensitivity."""
    inner = _emit(builder, "part", [given], index=0)
    return _emit(builder, "call", [captured[0], inner], keywords=())


def _nothing(builder: Builder, captured: Sequence[Value], given: Value) -> Value:
    return _emit(builder, "zero")


def _back_of(cx: Frame, subject: AV, position: Position) -> AV:
    if not sensitive(subject.type):
        return _closure(cx, "nothing", [], _nothing)
    match subject.type:
        case Tuple(items) | List(items):
            return _of_item(cx, subject, len(items), position)
        case Array():
            return _of_array(cx, subject, position)
        case Iterator("enumerate"):
            inner, _ = items_of(subject)
            return _closure(cx, "enumerate", [_back_of(cx, inner, position)], _enumerated)
        case Iterator("zip"):
            parts = [_back_of(cx, part, position) for part in items_of(subject)]
            return _closure(cx, "zip", parts, _zipped)
        case Iterator("reversed"):
            (inner,) = items_of(subject)
            return _closure(cx, "reversed", [_back_of(cx, inner, _backwards(cx, inner, position))], _reversed)
    raise _refused(cx, subject)


def _backwards(cx: Frame, inner: AV, position: Position) -> Position:
    source = iterable(cx, inner)
    if source.items is not None:
        assert isinstance(position, int)
        return len(source.items) - 1 - position
    assert source.count is not None and isinstance(position, Value)
    return cx.e("sub", cx.e("sub", source.count, cx.e.integer(1)), position)


def _of_item(cx: Frame, subject: AV, count: int, position: Position) -> AV:
    if isinstance(position, int):
        def one(builder: Builder, captured: Sequence[Value], given: Value) -> Value:
            return _emit(builder, "injected", [given, _emit(builder, "const", value=str(count))], index=position)

        return _closure(cx, ("item", position, count), [], one)
    assert isinstance(subject.type, Tuple | List)
    kind = subject.type.items[0]
    if not isinstance(kind, Number):
        raise _refused(cx, subject)
    machine = Scalar(kind.dtype)

    def chosen(builder: Builder, captured: Sequence[Value], given: Value) -> Value:
        nothing, items = _emit(builder, "zero"), []
        for index in range(count):
            stated = {"value": index, "type": I64}
            number = _emit(builder, "prim", name="const", attributes=stated, types=(), results=(I64,))
            here = _emit(builder, "prim", [captured[0], number], name="eq", attributes={}, types=(I64, I64),
                         results=(BOOL,))  # fmt: skip
            items.append(_emit(builder, "prim", [here, given, nothing], name="select", attributes={},
                               types=(BOOL, machine, machine), results=(machine,)))  # fmt: skip
        return builder.append_untyped(get("py.tuple"), items).result

    return _closure(cx, ("chosen", count, machine), [AV(WEAK_INT, (position,))], chosen)


def _of_array(cx: Frame, subject: AV, position: Position) -> AV:
    index = AV(WEAK_INT, (position if isinstance(position, Value) else cx.e.integer(position),))
    code = as_whole(cx, "py.subscript", {}, [subject, index], 1)

    def element(builder: Builder, captured: Sequence[Value], given: Value) -> Value:
        parts = _emit(builder, "back_of", [*captured, given], code=code)
        return _emit(builder, "part", [parts], index=0)

    return _closure(cx, ("array", code), [subject, index], element)


def _enumerated(builder: Builder, captured: Sequence[Value], given: Value) -> Value:
    element = _emit(builder, "part", [given], index=1)
    inner = _emit(builder, "call", [captured[0], element], keywords=())
    return _emit(builder, "tuple", [inner, _emit(builder, "zero")])


def _zipped(builder: Builder, captured: Sequence[Value], given: Value) -> Value:
    parts = [_emit(builder, "part", [given], index=i) for i in range(len(captured))]
    pairs = zip(captured, parts, strict=True)
    return _emit(builder, "tuple", [_emit(builder, "call", pair, keywords=()) for pair in pairs])


def _reversed(builder: Builder, captured: Sequence[Value], given: Value) -> Value:
    return _emit(builder, "tuple", [_emit(builder, "call", [captured[0], given], keywords=())])
