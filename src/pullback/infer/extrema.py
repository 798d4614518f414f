"""max and min: the builtins over arguments and iterables, and NumPy's over arrays.

Equal floats share the derivative evenly; an operand written as a literal (or an int) takes none, and then the others
get 0.
The float slot carries value and derivative, a tag tells whose type the result has: max(2.0, 3) is the int 3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pullback.infer.calls import call, call_builtin
from pullback.infer.dispatch import dispatch
from pullback.infer.elementwise import array_sizes
from pullback.infer.engine import Frame
from pullback.infer.heaps import heap_of_type
from pullback.infer.iteration import sequence_of
from pullback.infer.lattice import join
from pullback.infer.numbers import as_number, convert, is_fixed
from pullback.infer.registry import HANDLERS, Handler, prelude
from pullback.infer.truth import compare, truth
from pullback.infer.values import AV, items_of
from pullback.ir.node import Value
from pullback.prims.prelude import builtin
from pullback.types import (
    NONE,
    Array,
    Constant,
    DType,
    List,
    NoneType,
    Number,
    Range,
    Tuple,
    Type,
    Union,
    distinct_slots,
    show,
    union_of,
)  # fmt: skip

__all__ = ["extremum_of_array"]

EMPTY = {"max": builtin.MAX_EMPTY, "min": builtin.MIN_EMPTY}


def _extremum(kind: str) -> Handler:
    def handler(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        unknown = [name for name in keywords if name not in ("key", "default")]
        if unknown:
            title = f"{kind}() got an unexpected keyword argument '{unknown[0]}'"
            raise cx.type_error(title, "key= and default= exist", "leave it out")
        if not arguments:
            title = f"{kind} expected at least 1 argument, got 0"
            raise cx.type_error(title, "nothing to compare", f"write {kind}(x, y)")
        key = keywords.get("key")
        key = None if key is not None and isinstance(key.type, NoneType) else key
        if len(arguments) == 1:
            return _extremum_of(cx, kind, arguments[0], key, keywords.get("default"))
        if "default" in keywords:
            title = f"Cannot specify a default for {kind}() with multiple positional arguments"
            raise cx.type_error(title, "nothing can be missing", "leave it out")
        return _largest(cx, kind, arguments) if key is None else _best_by(cx, kind, arguments, key)

    return handler


def _extremum_of(cx: Frame, kind: str, source: AV, key: AV | None, default: AV | None) -> AV:
    if isinstance(source.type, Union):
        return dispatch(cx, [source], lambda cx, operands: _extremum_of(cx, kind, operands[0], key, default))
    if isinstance(source.type, Array) and source.type.rank == 1 and key is None and default is None:
        return extremum_of_array(cx, kind, source, EMPTY[kind])
    values = source if isinstance(source.type, Range) else sequence_of(cx, source)
    if cx.dead:
        return values
    if isinstance(values.type, Tuple | List):
        return _extremum_of_items(cx, kind, items_of(values), key, default)
    count = call_builtin(cx, "builtins.len", [values], {}).value
    some = cx.e("ne", count, cx.e.integer(0))
    if default is None:
        cx.check(some, "ValueError", EMPTY[kind])
        return _extremum_of_some(cx, kind, values, key)
    (result,) = cx.choose(some, lambda: [_extremum_of_some(cx, kind, values, key)], lambda: [default])
    return result


def _extremum_of_items(cx: Frame, kind: str, items: Sequence[AV], key: AV | None, default: AV | None) -> AV:
    if items:
        return _largest(cx, kind, items) if key is None else _best_by(cx, kind, items, key)
    if default is not None:
        return default
    cx.check(cx.e.boolean(False), "ValueError", EMPTY[kind])
    return cx.stop()


def _extremum_of_some(cx: Frame, kind: str, values: AV, key: AV | None) -> AV:
    """The extremum of what is not empty, and has indices."""
    word = {"max": "largest", "min": "smallest"}[kind]
    if key is not None:
        return call(cx, prelude(cx, f"pullback.iter_{word}_by"), [values, key], {})
    heap = heap_of_type(values.type)
    store = None if heap is None else heap_of_type(heap.known("items"))
    held = NONE if store is None else store.known("item")
    if isinstance(values.type, Array) or (isinstance(held, Number) and held.dtype.is_float):
        floats = not isinstance(values.type, Array) or values.type.dtype.is_float
        return call(cx, prelude(cx, f"pullback.{kind}_{'float' if floats else 'other'}"), [values], {})
    return call(cx, prelude(cx, f"pullback.iter_{word}"), [values], {})


def _best_by(cx: Frame, kind: str, items: Sequence[AV], key: AV) -> AV:
    """The first item of the largest (smallest) key."""
    best, most = items[0], call(cx, key, [items[0]], {})
    for item in items[1:]:
        if cx.dead:
            return best
        measure = call(cx, key, [item], {})
        wins = truth(cx, compare(cx, ">" if kind == "max" else "<", measure, most))
        if isinstance(wins.type, Constant):
            best, most = (item, measure) if wins.type.value else (best, most)
            continue
        before = [best, most]
        best, most = cx.choose(wins.value, lambda i=item, m=measure: [i, m], lambda b=before: b)  # type: ignore[misc]
    return best


def extremum_of_array(cx: Frame, kind: str, array: AV, empty: str = "") -> AV:
    """max or min over all elements of an array; `empty` is the message where there are none."""
    assert isinstance(array.type, Array)
    if array.type.rank != 1:
        raise cx.error(f"{kind} of {show(array.type)} is not supported yet", "1-D arrays are", "loop over the rows")
    message = empty or f"zero-size array to reduction operation {kind}imum which has no identity"
    cx.check(cx.e("ne", array_sizes(cx, array)[0], cx.e.integer(0)), "ValueError", message)
    which = "float" if array.type.dtype.is_float else "other"
    return call(cx, prelude(cx, f"pullback.{kind}_{which}"), [array], {})


def _largest(cx: Frame, kind: str, items: Sequence[AV]) -> AV:
    """The first of the largest (smallest); equal floats share the derivative, literals and ints take none."""
    if len(items) == 1:
        return items[0]
    return dispatch(cx, items, lambda cx, operands: _largest_numbers(cx, kind, [as_number(cx, o) for o in operands]))


def _largest_numbers(cx: Frame, kind: str, items: Sequence[AV]) -> AV:
    for av in items:
        if isinstance(av.type, Array):
            raise cx.error(f"{kind}() of {show(av.type)} is not supported", "numbers are needed",
                           "use np.maximum for arrays")  # fmt: skip
        if not isinstance(av.type, Number):
            return _largest_by_comparison(cx, kind, items)
    floats = {i.type.dtype for i in items if isinstance(i.type, Number) and i.type.dtype.is_float}
    if len(floats) > 1:
        return _largest_by_comparison(cx, kind, items)
    if not floats:
        return _largest_ints(cx, kind, items)
    return _largest_floats(cx, kind, items, floats.pop())


def _largest_by_comparison(cx: Frame, kind: str, items: Sequence[AV]) -> AV:
    best = items[0]
    for other in items[1:]:
        wins = truth(cx, compare(cx, ">" if kind == "max" else "<", other, best))
        if cx.dead:  # these have no order
            return cx.stop()
        if isinstance(wins.type, Constant):
            best = other if wins.type.value else best
            continue
        now = best
        (best,) = cx.choose(wins.value, lambda other=other: [other], lambda now=now: [now])  # type: ignore[misc]
    return best


def _largest_ints(cx: Frame, kind: str, items: Sequence[AV]) -> AV:
    if len({i.type for i in items}) > 1:
        return _largest_by_comparison(cx, kind, items)
    if items[0].type.dtype is DType.BOOL:  # type: ignore[union-attr]
        operation = "or_" if kind == "max" else "and_"
        result = items[0].value
        for av in items[1:]:
            result = cx.e(operation, result, av.value)
        return AV(items[0].type, (result,))
    result = items[0].value
    for av in items[1:]:
        result = cx.e(f"python_{kind}", result, av.value)
    return AV(items[0].type, (result,))


def _largest_floats(cx: Frame, kind: str, items: Sequence[AV], dtype: DType) -> AV:
    """One float slot carries the value and its derivative; which operand's type it has is a tag."""
    values = [convert(cx, av, dtype) for av in items]
    fixed = [is_fixed(av) for av in items]
    comparison = "gt" if kind == "max" else "lt"
    winner: Value = cx.e.integer(0)
    best = values[0]
    for position, value in enumerate(values[1:], 1):
        wins = cx.e(comparison, value, best)
        best = cx.e("select", wins, value, best)
        winner = cx.e("select", wins, cx.e.integer(position), winner)
    result = _shared(cx, kind, values, fixed)
    joined: Type = items[0].type
    for av in items[1:]:
        joined = join(joined, av.type)
    if not isinstance(joined, Union):
        return AV(joined, (result,))
    return _tagged(cx, items, joined, winner, result)


def _shared(cx: Frame, kind: str, values: Sequence[Value], fixed: Sequence[bool]) -> Value:
    """The extremum with the derivative rule of ties."""
    if len(values) == 2:
        return cx.e(f"python_{kind}", *values, literal=(fixed[0], fixed[1]))
    best = values[0]
    for value in values[1:]:
        best = cx.e(f"python_{kind}", best, value, literal=(True, True))
    one, zero = cx.e.like(1.0, best), cx.e.like(0.0, best)
    ties, blocked = zero, zero
    for value, is_literal in zip(values, fixed, strict=True):
        here = cx.e("select", cx.e("eq", value, best), one, zero)
        ties = cx.e("add", ties, here)
        blocked = cx.e("add", blocked, here) if is_literal else blocked
    share = cx.e("select", cx.e("gt", blocked, zero), zero, cx.e("div", one, ties))
    result = best
    for value, is_literal in zip(values, fixed, strict=True):
        if not is_literal:
            weight = cx.e("select", cx.e("eq", value, best), share, zero)
            result = cx.e("attach", result, value, weight)
    return result


def _tagged(cx: Frame, items: Sequence[AV], joined: Union, winner: Value, result: Value) -> AV:
    """The union of the operands' types, tagged by the winner."""
    types = [av.type for av in items]
    flat = union_of(*types)
    assert isinstance(flat, Union) and flat == joined
    tag = cx.e.integer(joined.members.index(types[0]))
    whole_number: Value | None = None
    for position, av in enumerate(items):
        hit = cx.e("eq", winner, cx.e.integer(position))
        if position:
            tag = cx.e("select", hit, cx.e.integer(joined.members.index(av.type)), tag)
        assert isinstance(av.type, Number)
        if not av.type.dtype.is_float:
            whole_number = av.value if whole_number is None else cx.e("select", hit, av.value, whole_number)
    payload: list[Value] = []
    for machine in distinct_slots(joined.members):
        if machine == result.type:
            payload.append(result)
        else:
            assert whole_number is not None and whole_number.type == machine
            payload.append(whole_number)
    return AV(joined, (tag, *payload))


HANDLERS["builtins.max"] = _extremum("max")
HANDLERS["builtins.min"] = _extremum("min")
