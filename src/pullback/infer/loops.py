"""Loops: types of carried values to a fixpoint, and what `for` means for each kind of iterable.

    for x in a:  ...      for k in 0 .. a.shape[0]-1: x = a[k]
    for x in (1, 2.0):    the body once per item
    with break:           while go and k < n
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pullback.infer.arithmetic import OVERFLOW
from pullback.infer.dispatch import dispatch
from pullback.infer.elementwise import array_sizes
from pullback.infer.engine import Branch, Frame
from pullback.infer.indexing import select_item
from pullback.infer.lattice import WEAK_BOOL, WEAK_INT, join
from pullback.infer.numbers import as_number, convert
from pullback.infer.samples import python_error
from pullback.infer.values import AV, coerce, items_of
from pullback.infer.views import array_element
from pullback.ir.node import Op, Value
from pullback.prims.base import get
from pullback.types import (
    NEVER,
    Array,
    Constant,
    Dict,
    DType,
    Iterator,
    List,
    Number,
    Range,
    Str,
    Tuple,
    Type,
    Union,
    show,
    slots,
)  # fmt: skip

__all__ = ["Iterable", "for_loop", "iterable", "range_value", "while_loop"]

MOST_ROUNDS = 24
MOST_UNROLLED = 16  # items of equal type beyond this are looped over with a run-time index


@dataclass(frozen=True, slots=True)
class Iterable:
    """What a loop steps through: `items` when they are known one by one, else a count and an element by index."""

    items: Sequence[AV] | None
    count: Value | None = None
    element: Callable[[Frame, Value], AV] | None = None


# ------------------------------------------------------------------------------------------------- fixpoint


def _fixpoint(cx: Frame, op: Op, start: Sequence[AV], bodies: Callable[[list[Type]], list[Branch]]) -> tuple[
    list[Type], list[Branch]
]:
    """Widen the carried types until the last branch yields no more than they hold."""
    known = cx.loop_types.get(op, [NEVER] * len(start))
    types = [join(t, av.type) for t, av in zip(known, start, strict=True)]
    for _ in range(MOST_ROUNDS):
        branches = bodies(types)
        wider = [join(t, av.type) for t, av in zip(types, branches[-1].results, strict=True)]
        if wider == types:
            cx.loop_types[op] = types
            return types, branches
        types = cx.widened(wider)
        cx.guard_type_growth(types)
    raise cx.error(
        "the types of the values that this loop carries do not settle", "a value has another type on every trip",
        "keep the type of loop variables fixed: text and lists cannot be built up in a loop yet",
    )  # fmt: skip


def _params(cx: Frame, block: Branch, avs: Sequence[AV]) -> None:
    block.block.params = [v for av in avs for v in av.values]


def while_loop(cx: Frame, op: Op, start: list[AV]) -> list[AV]:
    """py.while: cond and body blocks over the carried values."""
    cond, body = op.blocks
    names = [v.name for v in body.params]

    def bodies(types: list[Type]) -> list[Branch]:
        first = [cx.fresh(t, n) for t, n in zip(types, names, strict=True)]
        test = cx.branch(lambda: cx.run(cond, first)[0])
        _params(cx, test, first)
        second = [cx.fresh(t, n) for t, n in zip(types, names, strict=True)]
        step = cx.branch(lambda: cx.run(body, second)[0])
        _params(cx, step, second)
        return [test, step]

    types, (test, step) = _fixpoint(cx, op, start, bodies)
    condition = test.results[0].type
    if condition == Constant(False):
        return start
    results = _emit_while(cx, types, start, test, step)
    if condition == Constant(True) or test.dead:
        cx.dead = True
    return results


def _emit_while(cx: Frame, types: Sequence[Type], start: Sequence[AV], test: Branch, step: Branch) -> list[AV]:
    blocks = [cx.close(test, [WEAK_BOOL]), cx.close(step, types)]
    init = [v for av, t in zip(start, types, strict=True) for v in coerce(cx.e, av, t).values]
    op = cx.e.append(get("while"), init, blocks=blocks, types=[m for t in types for m in slots(t)])
    return cx.split(types, op.results)


# ------------------------------------------------------------------------------------------------------ for


def for_loop(cx: Frame, op: Op, operands: list[AV]) -> list[AV]:
    """py.for over any iterable; with breaks=True the body's first result tells whether to go on."""
    subject, *start = operands
    if isinstance(subject.type, Union):
        return _for_union(cx, op, subject, start)
    source = iterable(cx, subject)
    breaks = bool(op.attrs.get("breaks"))
    if source.items is not None:
        return _unrolled(cx, op, source.items, start, breaks)
    return _breaking(cx, op, source, start) if breaks else _counted(cx, op, source, start)


def _for_union(cx: Frame, op: Op, subject: AV, start: list[AV]) -> list[AV]:
    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        results = for_loop(cx, op, [operands[0], *start])
        return AV(Tuple(tuple(r.type for r in results)), tuple(v for r in results for v in r.values))

    whole = dispatch(cx, [subject], rule)
    return items_of(whole) if isinstance(whole.type, Tuple) else [AV(NEVER) for _ in op.results]


def _body(cx: Frame, op: Op, element: AV, carried: Sequence[AV]) -> list[AV]:
    results, _ = cx.run(op.blocks[0], [element, *carried])
    return results


def _unrolled(cx: Frame, op: Op, items: Sequence[AV], carried: list[AV], breaks: bool) -> list[AV]:
    """The body once per item; after a break that depends on data the rest is under an `if`."""
    for position, item in enumerate(items):
        results = _body(cx, op, item, carried)
        if cx.dead:
            return results
        if not breaks:
            carried = results
            continue
        go, *carried = results
        if isinstance(go.type, Constant):
            if not go.type.value:
                return carried
            continue
        rest, now = items[position + 1 :], carried
        if not rest:
            return carried

        def later(rest: Sequence[AV] = rest, now: list[AV] = now) -> list[AV]:
            return _unrolled(cx, op, rest, now, breaks)

        return cx.choose(go.value, later, lambda now=now: now)  # type: ignore[misc]
    return carried


def _counted(cx: Frame, op: Op, source: Iterable, start: list[AV]) -> list[AV]:
    assert source.count is not None and source.element is not None
    element = source.element
    names = [v.name for v in op.blocks[0].params[1:]]

    def bodies(types: list[Type]) -> list[Branch]:
        k = AV(WEAK_INT, (Value(slots(WEAK_INT)[0], "k"),))
        carried = [cx.fresh(t, n) for t, n in zip(types, names, strict=True)]
        step = cx.branch(lambda: _body(cx, op, element(cx, k.value), carried))
        _params(cx, step, [k, *carried])
        return [step]

    types, (step,) = _fixpoint(cx, op, start, bodies)
    block = cx.close(step, types)
    init = [v for av, t in zip(start, types, strict=True) for v in coerce(cx.e, av, t).values]
    result = cx.e.append(get("for"), [source.count, *init], blocks=[block], types=[m for t in types for m in slots(t)])
    return cx.split(types, result.results)


def _breaking(cx: Frame, op: Op, source: Iterable, start: list[AV]) -> list[AV]:
    """A counted loop that may stop early: while go and k < n."""
    assert source.count is not None and source.element is not None
    count, element = source.count, source.element
    names = ["k", "go", *(v.name for v in op.blocks[0].params[1:])]
    first = [AV(WEAK_INT, (cx.e.integer(0),)), AV(WEAK_BOOL, (cx.e.boolean(True),)), *start]

    def bodies(types: list[Type]) -> list[Branch]:
        state = [cx.fresh(t, n) for t, n in zip(types, names, strict=True)]

        def more() -> list[AV]:
            k, go = state[0].value, state[1].value
            return [AV(WEAK_BOOL, (cx.e("and_", go, cx.e("lt", k, count)),))]

        test = cx.branch(more)
        _params(cx, test, state)
        inner = [cx.fresh(t, n) for t, n in zip(types, names, strict=True)]

        def step() -> list[AV]:
            k = inner[0].value
            go, *carried = _body(cx, op, element(cx, k), inner[2:])
            if cx.dead:
                return [AV(NEVER) for _ in inner]
            return [AV(WEAK_INT, (cx.e("add", k, cx.e.integer(1)),)), as_number(cx, go), *carried]

        branch = cx.branch(step)
        _params(cx, branch, inner)
        return [test, branch]

    types, (test, step) = _fixpoint(cx, op, first, bodies)
    return _emit_while(cx, types, first, test, step)[2:]


# ------------------------------------------------------------------------------------------------ iterables


def range_value(cx: Frame, arguments: Sequence[AV]) -> AV:
    """range(...) as start, trip count, step."""
    e = cx.e
    numbers: list[Value] = []
    for av in arguments:
        av = as_number(cx, av)
        if not isinstance(av.type, Number) or av.type.dtype.is_float:
            raise cx.error(f"range takes ints, not {show(av.type)}", "a count is an int", "convert with int(...)")
        numbers.append(convert(cx, av, DType.I64))
    zero, one = e.integer(0), e.integer(1)
    start, stop, step = {
        1: lambda: (zero, numbers[0], one),
        2: lambda: (numbers[0], numbers[1], one),
        3: lambda: (numbers[0], numbers[1], numbers[2]),
    }[len(numbers)]()
    if step is one:
        if start is zero:
            return AV(Range(), (start, stop, step))
        cx.check(e("not_", e("sub_overflows", stop, start)), "OverflowError", OVERFLOW)
        return AV(Range(), (start, e("sub", stop, start), step))
    literal = arguments[2].literal
    if not (isinstance(literal, int) and literal != 0):
        cx.check(e("ne", step, zero), "ValueError", "range() arg 3 must not be zero")
    cx.check(e("not_", e("sub_overflows", stop, start)), "OverflowError", OVERFLOW)
    # ceil(distance / step) for either sign: -((start - stop) // step) by floor division
    count = e("neg", e("floordiv", e("sub", start, stop), step))
    return AV(Range(), (start, count, step))


def iterable(cx: Frame, av: AV) -> Iterable:
    """How to step through a value."""
    match av.type:
        case Tuple(items) | List(items):
            if len(items) > MOST_UNROLLED and len(set(items)) == 1:
                found = items_of(av)
                return Iterable(None, cx.e.integer(len(items)), lambda cx, k: select_item(cx, found, k))
            return Iterable(items_of(av))
        case Dict(keys, _):
            return Iterable([AV(Str(key), (), key) for key in keys])
        case Range():
            return _range_iterable(cx, av)
        case Array(_, rank, _) if rank > 0:
            return Iterable(None, array_sizes(cx, av)[0], lambda cx, k: array_element(cx, av, k))
        case Array():
            raise cx.error("iteration over a 0-d array", show(av.type))
        case Iterator(kind, _):
            return _ITERATORS[kind](cx, items_of(av))
    raise cx.error(f"{show(av.type)} cannot be iterated over", "range, arrays, tuples, enumerate, zip and reversed can",
                   raised=python_error(iter, av.type))  # fmt: skip


def _range_iterable(cx: Frame, av: AV) -> Iterable:
    start, count, step = av.values

    def element(cx: Frame, k: Value) -> AV:
        # No overflow: the last element lies between start and stop.
        return AV(WEAK_INT, (cx.e("add", start, cx.e("mul", k, step)),))

    return Iterable(None, count, element)


def _enumerate(cx: Frame, parts: Sequence[AV]) -> Iterable:
    inner, start = iterable(cx, parts[0]), parts[1]

    def pair(cx: Frame, k: Value, item: AV) -> AV:
        index = cx.e("add", convert(cx, start, DType.I64), k)
        return AV(Tuple((WEAK_INT, item.type)), (index, *item.values))

    if inner.items is not None:
        return Iterable([pair(cx, cx.e.integer(k), item) for k, item in enumerate(inner.items)])
    assert inner.element is not None
    element = inner.element
    return Iterable(None, inner.count, lambda cx, k: pair(cx, k, element(cx, k)))


def _zip(cx: Frame, parts: Sequence[AV]) -> Iterable:
    inner = [iterable(cx, part) for part in parts]
    if all(source.items is not None for source in inner):
        rows = zip(*(source.items or () for source in inner), strict=False)
        return Iterable([_tuple_of(row) for row in rows])
    sources = [_indexed(cx, source) for source in inner]
    count = sources[0][0]
    for other, _ in sources[1:]:
        count = cx.e("minimum", count, other)
    return Iterable(None, count, lambda cx, k: _tuple_of([element(cx, k) for _, element in sources]))


def _tuple_of(items: Sequence[AV]) -> AV:
    return AV(Tuple(tuple(i.type for i in items)), tuple(v for i in items for v in i.values))


def _indexed(cx: Frame, source: Iterable) -> tuple[Value, Callable[[Frame, Value], AV]]:
    """Count and element-by-index, for known items too."""
    if source.items is None:
        assert source.count is not None and source.element is not None
        return source.count, source.element
    items = list(source.items)
    return cx.e.integer(len(items)), lambda cx, k: select_item(cx, items, k) if items else cx.stop()


def _reversed(cx: Frame, parts: Sequence[AV]) -> Iterable:
    inner = iterable(cx, parts[0])
    if inner.items is not None:
        return Iterable(list(reversed(inner.items)))
    count, element = inner.count, inner.element
    assert count is not None and element is not None
    length = cx.e("maximum", count, cx.e.integer(0))

    def backwards(cx: Frame, k: Value) -> AV:
        return element(cx, cx.e("sub", cx.e("sub", length, cx.e.integer(1)), k))

    return Iterable(None, length, backwards)


_ITERATORS: dict[str, Callable[[Frame, Sequence[AV]], Iterable]] = {
    "enumerate": _enumerate, "zip": _zip, "reversed": _reversed,
}  # fmt: skip
