"""np.max and np.min of float arrays: the values by loops without derivative, the derivative by elementwise passes.

    b = largest of a               one loop; nan wins
    w = 1 / sum(a == b)            the share of each that is equal to it
    r = attach(b, sum(where(a == b, a * w, 0)))         the value of b, the derivative of the sum

Both the count and the sum are array operations, which become vectors and join with what is around them; without a
derivative both are dead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pullback.infer.calls import call
from pullback.infer.creation import empty
from pullback.infer.elementwise import array_sizes, elementwise, reduce_sum
from pullback.infer.engine import Frame
from pullback.infer.lattice import WEAK_INT
from pullback.infer.registry import prelude
from pullback.infer.shapes import reshaped
from pullback.infer.values import AV
from pullback.infer.views import array_of
from pullback.ir.node import Value
from pullback.types import Array, Number

__all__ = ["extrema_along", "extremum_of_floats"]

_WORDS = {"max": "largest", "min": "smallest"}
Sum = Callable[[AV], AV]


def extremum_of_floats(cx: Frame, kind: str, flat: AV) -> AV:
    """Of all elements of a 1-D array, a number."""
    best = call(cx, prelude(cx, f"pullback.{_WORDS[kind]}_flat"), [flat], {})
    return _shared(cx, flat, best, lambda part: reduce_sum(cx, part))


def extrema_along(cx: Frame, kind: str, value: AV, axes: Sequence[int], total: Sum) -> AV:
    """Along some axes, which keep size 1; `total` adds up along them."""
    assert isinstance(value.type, Array)
    sizes = array_sizes(cx, value)
    kept = [AV(WEAK_INT, (cx.e.integer(1),), 1) if i in axes else AV(WEAK_INT, (s,)) for i, s in enumerate(sizes)]
    best = reshaped(cx, _best(cx, kind, value, axes), kept)
    return _shared(cx, value, best, total)


def _best(cx: Frame, kind: str, value: AV, axes: Sequence[int]) -> AV:
    """The values in one row.

    The table to reduce has the reduced axes first where neighbours in memory belong to different results, else last.
    """
    assert isinstance(value.type, Array)
    rank = value.type.rank
    others = tuple(axis for axis in range(rank) if axis not in axes)
    by_rows = rank - 1 in axes
    perm = (*others, *axes) if by_rows else (*axes, *others)
    table = value
    if perm != tuple(range(rank)):
        table = array_of(cx.e("view_transpose", value.value, perm=perm), value.type, perm=perm)
    sizes = array_sizes(cx, value)
    outer, inner = _product(cx, [sizes[axis] for axis in others]), _product(cx, [sizes[axis] for axis in axes])
    if rank > 2:
        pair = (outer, inner) if by_rows else (inner, outer)
        table = reshaped(cx, table, [AV(WEAK_INT, (size,)) for size in pair], reading=True)
    out = empty(cx, [outer], value.type.dtype)
    return call(cx, prelude(cx, f"pullback.{_WORDS[kind]}_{'rows' if by_rows else 'columns'}"), [table, out], {})


def _product(cx: Frame, sizes: Sequence[Value]) -> Value:
    result = sizes[0]
    for size in sizes[1:]:
        result = cx.e("mul", result, size)
    return result


def _shared(cx: Frame, value: AV, best: AV, total: Sum) -> AV:
    """The best values, with the derivative shared evenly among the elements that are equal to them."""
    assert isinstance(value.type, Array)
    number = Number(value.type.dtype, weak=False)

    def hit(cx: Frame, items: Sequence[AV]) -> AV:
        x, most = (item.value for item in items)
        return AV(number, (cx.e("select", cx.e("eq", x, most), cx.e.like(1.0, x), cx.e.like(0.0, x)),))

    def inverse(cx: Frame, items: Sequence[AV]) -> AV:
        count = items[0].value
        return AV(number, (cx.e("stop", cx.e("div", cx.e.like(1.0, count), count)),))

    def part(cx: Frame, items: Sequence[AV]) -> AV:
        x, most, share = (item.value for item in items)
        return AV(number, (cx.e("select", cx.e("eq", x, most), cx.e("mul", x, share), cx.e.like(0.0, x)),))

    def attached(cx: Frame, items: Sequence[AV]) -> AV:
        most, parts = (item.value for item in items)
        return AV(number, (cx.e("attach", most, parts, cx.e.like(1.0, most)),))

    ties = total(elementwise(cx, [value, best], hit))
    share = elementwise(cx, [ties], inverse) if isinstance(ties.type, Array) else inverse(cx, [ties])
    parts = total(elementwise(cx, [value, best, share], part))
    return attached(cx, [best, parts]) if isinstance(best.type, Number) else elementwise(cx, [best, parts], attached)
