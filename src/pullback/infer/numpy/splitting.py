"""Arrays taken apart: split and kin give views, in a list whose length is known while compiling.

    np.split(a, 3)               three views of equal length
    np.split(a, [2, 5], axis=1)  a[:, :2], a[:, 2:5], a[:, 5:]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from pullback.infer.displays import fixed_list
from pullback.infer.engine import Frame
from pullback.infer.lattice import WEAK_INT
from pullback.infer.numpy.axes import Rule, of_array, rank_of
from pullback.infer.numpy.shapes import axis_of
from pullback.infer.registry import HANDLERS
from pullback.infer.static import static_int, static_items
from pullback.infer.values import AV
from pullback.infer.views import array_of, full_slice, view
from pullback.ir.node import Value
from pullback.types import Array, List, NoneType, Ref, Slice, Tuple, show

__all__ = ["between", "slice_of"]


def slice_of(low: AV | None, high: AV | None) -> AV:
    """The slice low:high."""
    parts = [AV(NoneType()) if av is None else av for av in (low, high, None)]
    first, second, third = (part.type for part in parts)
    return AV(Slice((first, second, third)), tuple(v for part in parts for v in part.values))


def between(cx: Frame, av: AV, axis: int, low: AV | None, high: AV | None) -> AV:
    """The view a[low:high] along an axis."""
    parts = [full_slice() for _ in range(axis)] + [slice_of(low, high)]
    return view(cx, av, parts)


def _split(name: str, axis_from_rank: dict[int, int] | None, uneven: bool) -> Rule:
    """axis_from_rank: the axis for the ranks that do not take the usual one, which stands at 0; None: an argument."""

    def rule(cx: Frame, av: AV, found: Mapping[str, AV]) -> AV:
        rank = rank_of(av)
        if axis_from_rank is None:
            axis = axis_of(cx, found["axis"], rank) if "axis" in found else 0
        else:
            axis = axis_from_rank.get(rank, axis_from_rank[0])
        if axis >= rank:
            title = f"{name} only works on arrays of {axis + 1} or more dimensions"
            raise cx.error(title, show(av.type), raised=("ValueError", title))
        where = found["indices_or_sections"]
        if isinstance(where.type, Tuple | List | Ref):
            return fixed_list(cx, _at(cx, av, axis, static_items(cx, where, "the places")))
        if isinstance(where.type, Array):
            help = "write the places in a tuple, or slice in a loop"
            raise cx.error(f"{name} takes places known while compiling", show(where.type), help)
        return fixed_list(cx, _evenly(cx, name, av, axis, where, uneven))

    return rule


def _at(cx: Frame, av: AV, axis: int, places: Sequence[AV]) -> list[AV]:
    bounds = [None, *places, None]
    zero = AV(WEAK_INT, (cx.e.integer(0),), 0)
    return [between(cx, av, axis, low or zero, high) for low, high in pairwise(bounds)]


def _evenly(cx: Frame, name: str, av: AV, axis: int, where: AV, uneven: bool) -> list[AV]:
    count = static_int(cx, where, "the number of parts")
    if count <= 0:
        title = "number sections must be larger than 0." if uneven else "integer modulo by zero"
        raise cx.error(title, f"{count} parts", raised=("ValueError", title))
    e = cx.e
    size, parts = e("array_size", av.value, axis=axis), e.integer(count)
    each, more = e("floordiv", size, parts), e("mod", size, parts)
    if not uneven:
        message = "array split does not result in an equal division"
        cx.check(e("eq", more, e.integer(0)), "ValueError", message, shapes=True)
    found: list[AV] = []
    start = e.integer(0)
    for number in range(count):
        length = e("add", each, e("cast", e("lt", e.integer(number), more), to=_INT)) if uneven else each
        found.append(_slice(cx, av, axis, start, length))
        start = e("add", start, length)
    return found


_INT = WEAK_INT.dtype


def _slice(cx: Frame, av: AV, axis: int, start: Value, length: Value) -> AV:
    assert isinstance(av.type, Array)
    ones = [av.type.is_one(k) if k != axis else None for k in range(av.type.rank)]
    value = cx.e("view_slice", av.value, start, length, cx.e.integer(1), axis=axis, unit=True)
    return array_of(value, av.type, ones)


_TWO, _THREE = ("ary", "indices_or_sections"), ("ary", "indices_or_sections", "axis")
HANDLERS.update({
    "numpy.split": of_array("numpy.split", _THREE, _split("split", None, False)),
    "numpy.array_split": of_array("numpy.array_split", _THREE, _split("array_split", None, True)),
    "numpy.hsplit": of_array("numpy.hsplit", _TWO, _split("hsplit", {0: 1, 1: 0}, False)),
    "numpy.vsplit": of_array("numpy.vsplit", _TWO, _split("vsplit", {0: 0, 1: 1}, False)),
    "numpy.dsplit": of_array("numpy.dsplit", _TWO, _split("dsplit", {0: 2}, False)),
})  # fmt: skip
