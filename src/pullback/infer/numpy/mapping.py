"""Functions of the user mapped over arrays: vectorize, apply_along_axis, apply_over_axes.

    np.vectorize(f)(x, y)              f of the first elements tells the dtype, then a loop of the prelude
    np.apply_along_axis(f, 1, a)       f of every row
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pullback.infer.binding import pack_tuple
from pullback.infer.bound import apply_to
from pullback.infer.calls import call
from pullback.infer.creation import array_like, empty
from pullback.infer.elementwise import array_sizes, broadcast, ordered_as
from pullback.infer.engine import Frame
from pullback.infer.filling import fill
from pullback.infer.lattice import WEAK_INT
from pullback.infer.numbers import as_number
from pullback.infer.numpy.axes import expanded, moved_axis, rank_of, several
from pullback.infer.numpy.repeats import spread_to
from pullback.infer.numpy.shapes import axis_of, flattened, reshaped
from pullback.infer.registry import HANDLERS, prelude
from pullback.infer.values import AV, items_of
from pullback.ir.node import Value
from pullback.types import Array, Builtin, DType, Number, Tuple, show

__all__: list[str] = []

_VECTORIZED = AV(Builtin("pullback.vectorized"))


def _vectorize(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """np.vectorize(f): what maps f."""
    if len(given) != 1 or set(keywords) - {"doc", "cache"}:
        raise cx.error("np.vectorize takes a function only", ", ".join(keywords), "leave the other arguments out")
    return apply_to(_VECTORIZED, given)


def _vectorized(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    function, *operands = given
    if keywords or not operands:
        raise cx.error("what np.vectorize makes takes arrays by position here", ", ".join(keywords))
    arrays = [array_like(cx, as_number(cx, av)) for av in operands]
    shape = [extent.size for extent in broadcast(cx, arrays)]
    rows = [flattened(cx, spread_to(cx, av, shape)) for av in arrays]
    count = cx.e("array_size", rows[0].value, axis=0)
    message = "cannot call `vectorize` on size 0 inputs unless `otypes` is set"
    cx.check(cx.e("gt", count, cx.e.integer(0)), "ValueError", message)
    zero = cx.e.integer(0)
    firsts = [_element(cx, row, zero) for row in rows]
    first = call(cx, function, firsts, {})
    if cx.dead:
        return first
    results = items_of(first) if isinstance(first.type, Tuple) else [first]
    outs = [empty(cx, shape, _dtype_of(cx, av)) for av in results]
    flat = [flattened(cx, out) for out in outs]
    loop = prelude(cx, "pullback.vectorize" if len(outs) == 1 else "pullback.vectorize_several")
    call(cx, loop, [function, pack_tuple(rows), flat[0] if len(outs) == 1 else pack_tuple(flat)], {})
    outs = [ordered_as(out, arrays) for out in outs]
    return outs[0] if not isinstance(first.type, Tuple) else pack_tuple(outs)


def _element(cx: Frame, row: AV, k: Value) -> AV:
    assert isinstance(row.type, Array)
    return AV(Number(row.type.dtype, False), (cx.e("array_get", row.value, k),))


def _dtype_of(cx: Frame, av: AV) -> DType:
    number = as_number(cx, av)
    if not isinstance(number.type, Number):
        raise cx.error("the function that is mapped must give numbers", f"it gives {show(av.type)}")
    return number.type.dtype


def _along_axis(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    function, axis, subject, *more = given
    if keywords:
        raise cx.error("np.apply_along_axis takes no keywords of the function here", ", ".join(keywords),
                       "give a lambda that has them")  # fmt: skip
    av = array_like(cx, subject)
    place = axis_of(cx, axis, rank_of(av))
    sizes = array_sizes(cx, av)
    others = [*sizes[:place], *sizes[place + 1 :]]
    count = cx.e.integer(1)
    for size in others:
        count = cx.e("mul", count, size)
    message = "Cannot apply_along_axis when any iteration dimensions are 0"
    cx.check(cx.e("gt", count, cx.e.integer(0)), "ValueError", message)
    wanted = [AV(WEAK_INT, (count,)), AV(WEAK_INT, (sizes[place],))]
    table = reshaped(cx, moved_axis(cx, av, place, rank_of(av) - 1), wanted, reading=True)
    row = HANDLERS["operator.getitem"](cx, [table, AV(WEAK_INT, (cx.e.integer(0),), 0)], {})
    first = call(cx, function, [row, *more], {})
    if cx.dead:
        return first
    if isinstance(first.type, Tuple):
        first = array_like(cx, first)
    inner = array_sizes(cx, first) if isinstance(first.type, Array) else []
    dtype = first.type.dtype if isinstance(first.type, Array) else _dtype_of(cx, first)
    out = empty(cx, [count, *inner], dtype)
    start = HANDLERS["operator.getitem"](cx, [out, slice_from_zero(cx)], {})
    fill(cx, start, expanded(cx, first, 0) if isinstance(first.type, Array) else first, exact=False)
    call(cx, prelude(cx, "pullback.apply_rows"), [function, table, out, pack_tuple(more)], {})
    whole = reshaped(cx, out, [AV(WEAK_INT, (size,)) for size in (*others, *inner)])
    for k in range(len(inner)):
        whole = moved_axis(cx, whole, len(others) + k, place + k)
    return as_number(cx, whole) if rank_of(whole) == 0 else whole


def slice_from_zero(cx: Frame) -> AV:
    """The slice 0:1."""
    bounds = [AV(WEAK_INT, (cx.e.integer(k),), k) for k in (0, 1)]
    return HANDLERS["builtins.slice"](cx, bounds, {})


def _over_axes(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    function, subject, axes = given
    value = array_like(cx, subject)
    rank = rank_of(value)
    for axis in several(cx, axes, "axes"):
        place = axis_of(cx, axis, rank)
        number = AV(WEAK_INT, (cx.e.integer(place),), place)
        result = array_like(cx, call(cx, function, [value, number], {}))
        if rank_of(result) != rank:
            result = expanded(cx, result, place)
        if rank_of(result) != rank:
            title = "function is not returning an array of the correct shape"
            raise cx.error(title, show(result.type), raised=("ValueError", title))
        value = result
    return value


HANDLERS.update({
    "numpy.vectorize": _vectorize, "pullback.vectorized": _vectorized, "numpy.apply_along_axis": _along_axis,
    "numpy.apply_over_axes": _over_axes,
})  # fmt: skip
