"""What a loop steps through, paired with backpropagators of its elements.

    for x in a          ->      (a[0], b0), (a[1], b1), ...         bk(d): the sensitivity of a of which element k has d
    for i, x in enumerate(a)    ((0, a[0]), c0), ...                ck(d): (bk of part 1 of d, zero)
    for x in l, of a heap       (l[0], b0), (l[1], b1), ...         bk(d): zero, and the cell of the twin gets d
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from pullback.infer.binding import pack_tuple
from pullback.infer.engine import Branch, Code, Frame
from pullback.infer.lattice import WEAK_INT
from pullback.infer.lifted import Lifted
from pullback.infer.loops import PAIRED, Iterable, Steps, iterable
from pullback.infer.made import back_function
from pullback.infer.rules import apply_with_back
from pullback.infer.sensitivities import sensitive
from pullback.infer.shadowed import holds_shadowed, inner_array, stripped, tracks
from pullback.infer.stored import cells_of, keeps_floats
from pullback.infer.values import AV, items_of, pair_of_shadowed
from pullback.infer.wholes import as_whole
from pullback.ir.build import Builder
from pullback.ir.node import Block, Function, Value
from pullback.ir.show import show_function
from pullback.ir.walk import free_values
from pullback.prims.base import get
from pullback.types import (
    BOOL,
    I64,
    Array,
    Closure,
    Iterator,
    List,
    Number,
    Scalar,
    Shadowed,
    Table,
    Tuple,
    show,
    slots,
)  # fmt: skip

__all__: list[str] = []

Position = int | Value  # of an element: known while compiling or not


def _paired(cx: Frame, subject: AV, source: Iterable, level: int) -> Iterable:
    """The source with pairs in place of its elements, `level` times."""

    def nested(cx: Frame, element: AV, made: Callable[[int], AV]) -> AV:
        for number in range(level):
            back = made(number)
            for i in range(number):
                back = _closure(cx, ("outer", i), [back], _outer)
            element = pack_tuple([element, back])
        return element

    if not sensitive(subject.type) and not holds_shadowed(subject.type):
        if source.items is not None and any(sensitive(item.type) for item in source.items):
            raise _refused(cx, subject)  # they were read from somewhere
        return _read(cx, source, nested, level)
    if source.count is None and source.items is None:
        raise _refused(cx, subject)

    def pair(cx: Frame, element: AV, position: Position) -> AV:
        return nested(cx, element, lambda number: _back_of(cx, subject, position, number))

    if source.items is not None:
        return replace(source, items=[pair(cx, item, k) for k, item in enumerate(source.items)])
    element = source.element
    assert element is not None
    if source.tables:
        return _by_parts(cx, subject, source, nested, level)
    return replace(source, element=lambda cx, k: pair(cx, element(cx, k), k), steps=None)


# An element with backpropagators of orders 1, 2, ...; that of the given number, as if there were none below it.
Nested = Callable[[Frame, AV, Callable[[int], AV]], AV]


def _read(cx: Frame, source: Iterable, nested: Nested, level: int) -> Iterable:
    """Of what has no sensitivity itself: elements are read from cells of heaps, or are ints."""
    if source.items is not None:
        return replace(source, items=[nested(cx, item, lambda _: _closure(cx, "nothing", [], _nothing))
                                      for item in source.items])  # fmt: skip

    element, steps = source.element, source.steps

    def by_number(cx: Frame, k: Value) -> AV:
        assert element is not None
        found, back = _with_reading(cx, lambda: [element(cx, k)], level)[0]
        return nested(cx, found, lambda _: back)

    def take(cx: Frame, state: Sequence[AV]) -> tuple[AV, list[AV]]:
        assert steps is not None
        (found, back), following = _with_reading(cx, lambda: _flattened(*steps.take(cx, state)), level)
        return nested(cx, found, lambda _: back), following

    return replace(
        source, element=None if element is None else by_number,
        steps=None if steps is None else Steps(steps.start, steps.more, take),
    )  # fmt: skip


def _by_parts(cx: Frame, subject: AV, source: Iterable, nested: Nested, level: int) -> Iterable:
    """Of what has sensitivities beside what is read from heaps, which the loop must not change."""
    element, steps = source.element, source.steps
    assert element is not None and steps is not None

    def by_number(cx: Frame, k: Value) -> AV:
        found, backs = _part(cx, subject, element(cx, k), k, level)
        return nested(cx, found, lambda number: backs[number])

    def take(cx: Frame, state: Sequence[AV]) -> tuple[AV, list[AV]]:
        raise _refused(cx, subject)

    return replace(source, element=by_number, steps=Steps(steps.start, steps.more, take))


def _part(cx: Frame, subject: AV, element: AV, k: Value, level: int) -> tuple[AV, list[AV]]:
    """An element of one of several things that a loop steps through, and its backpropagators."""
    match subject.type:
        case Iterator("zip"):
            pairs = zip(items_of(subject), items_of(element), strict=True)
            found = [_part(cx, inner, item, k, level) for inner, item in pairs]
            backs = [_closure(cx, "zip", list(column), _zipped) for column in zip(*(b for _, b in found), strict=True)]
            return pack_tuple([item for item, _ in found]), backs
        case Iterator("enumerate"):
            number, item = items_of(element)
            item, backs = _part(cx, items_of(subject)[0], item, k, level)
            return pack_tuple([number, item]), [_closure(cx, "enumerate", [back], _enumerated) for back in backs]
        case Iterator("reversed"):
            (inner,) = items_of(subject)
            position = _backwards(cx, inner, k)
            assert isinstance(position, Value)
            item, backs = _part(cx, inner, element, position, level)
            return item, [_closure(cx, "reversed", [back], _reversed) for back in backs]
    if sensitive(subject.type) or holds_shadowed(subject.type):
        return element, [_back_of(cx, subject, k, number) for number in range(level)]
    source = iterable(cx, subject)
    if source.element is None:
        return element, [_closure(cx, "nothing", [], _nothing)] * level
    read = source.element
    item, back = _with_reading(cx, lambda: [read(cx, k)], level)[0]
    return item, [back] * level


def _flattened(element: AV, following: list[AV]) -> list[AV]:
    return [element, *following]


def _with_reading(cx: Frame, make: Callable[[], list[AV]], level: int) -> tuple[tuple[AV, AV], list[AV]]:
    """An element, arrays in it with `level` shadows, the backpropagator of what read it, and what follows."""
    branch = cx.branch(make)
    cx.e.block.ops += branch.block.ops
    cx.dead = cx.dead or branch.dead
    element, *following = branch.results
    if cx.dead or not keeps_floats(cx, branch):
        return (element, _closure(cx, "nothing", [], _nothing)), following
    given = [v for v in free_values(Block((), branch.block.ops, element.values)) if not isinstance(v.type, Table)]
    params = [AV(Number(v.type.dtype, weak=False), (v,)) for v in given if isinstance(v.type, Scalar)]
    text = show_function(Function("element", Block(given, branch.block.ops, element.values)))
    key = ("reading", text, cells_of(branch), element.type)
    code = cx.session.codes.get(key)
    if code is None:
        whole = Branch(branch.block, [element], False, branch.emitter)
        lifted = Lifted(cx, "element", params, whole).function() if len(params) == len(given) else None
        if lifted is None:
            raise _refused(cx, element)
        code = cx.session.codes[key] = Code(lifted, {})
    _, back = apply_with_back(cx, code, params, 1)
    if cx.session.shadowed and tracks(element.type):
        element = apply_with_back(cx, code, params, level)[0]
    return (element, _closure(cx, "reading", [back], _reading)), following


def _reading(builder: Builder, captured: Sequence[Value], given: Value) -> Value:
    """The cell has the sensitivity; what the loop steps through has none."""
    _emit(builder, "call", [captured[0], given], keywords=())
    return _emit(builder, "zero")


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


def _back_of(cx: Frame, subject: AV, position: Position, number: int = 0) -> AV:
    if isinstance(subject.type, Shadowed):
        return _of_shadowed(cx, stripped(subject, number), position)
    if not sensitive(subject.type) and not holds_shadowed(subject.type):
        return _of_heap(cx, subject, position)
    match subject.type:
        case Tuple(items) | List(items):
            return _of_item(cx, subject, len(items), position)
        case Array():
            return _of_array(cx, subject, position)
        case Iterator("enumerate"):
            inner, _ = items_of(subject)
            return _closure(cx, "enumerate", [_back_of(cx, inner, position, number)], _enumerated)
        case Iterator("zip"):
            parts = [_back_of(cx, part, position, number) for part in items_of(subject)]
            return _closure(cx, "zip", parts, _zipped)
        case Iterator("reversed"):
            (inner,) = items_of(subject)
            back = _back_of(cx, inner, _backwards(cx, inner, position), number)
            return _closure(cx, "reversed", [back], _reversed)
    raise _refused(cx, subject)


def _of_shadowed(cx: Frame, subject: AV, position: Position) -> AV:
    """Of an array with a shadow: that gets what the element has.  Rows have shadows themselves."""
    array = inner_array(subject.type)
    if array.rank > 1 or not isinstance(subject.type, Shadowed):
        return _closure(cx, "nothing", [], _nothing)
    (machine,) = slots(array)
    index = AV(WEAK_INT, (position if isinstance(position, Value) else cx.e.integer(position),))

    def element(builder: Builder, captured: Sequence[Value], given: Value) -> Value:
        attrs: dict[str, object] = {
            "name": "array_inc", "attributes": {}, "types": (machine, I64, Scalar(array.dtype)), "results": (),
        }  # fmt: skip
        builder.append_untyped(get("py.prim"), [*captured, given], attrs=attrs, results=0)
        return _emit(builder, "zero")

    return _closure(cx, ("shadow", machine), [pair_of_shadowed(subject)[1], index], element)


def _of_heap(cx: Frame, subject: AV, position: Position) -> AV:
    """Of what is read from a heap, or is no number with derivative."""
    source = iterable(cx, subject)
    if source.element is None:
        raise _refused(cx, subject)
    element, k = source.element, position if isinstance(position, Value) else cx.e.integer(position)
    found, back = _with_reading(cx, lambda: [element(cx, k)], 1)[0]
    if holds_shadowed(found.type):
        raise _refused(cx, subject)  # beside what has sensitivities: whose elements are read in one piece
    return back


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
    if not sensitive(kind):
        return _closure(cx, "nothing", [], _nothing)
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
