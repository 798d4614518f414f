"""Index arrays and masks: a[idx], a[mask] and assignment to them, by loops of the prelude.

    a[idx]             fresh array of shape idx.shape + a.shape[1:], filled row by row
    a[mask]            fresh array of as many rows (elements) as the mask has True
    a[mask] = 0.0      elementwise select written back
    a[idx] = b         in the order of idx: of a repeated index the last write stays
"""

from __future__ import annotations

from collections.abc import Sequence

from pullback.infer.calls import call
from pullback.infer.elementwise import array_sizes, elementwise, reduce_sum
from pullback.infer.engine import Frame
from pullback.infer.filling import fill
from pullback.infer.lattice import WEAK_INT
from pullback.infer.numbers import as_number, convert
from pullback.infer.registry import prelude
from pullback.infer.values import AV
from pullback.infer.views import array_of, full_slice, view
from pullback.ir.node import Value
from pullback.types import Array, Builtin, DType, List, NoneType, Number, Slice, show

__all__ = ["set_fancy", "take"]


def take(cx: Frame, subject: AV, parts: Sequence[AV]) -> AV:
    """A copy of what arrays of ints or a mask pick."""
    parts = [_converted(cx, part) for part in parts]
    if _mask_in_front(parts):
        return _take_mask(cx, subject, parts[0])
    parts = _without_masks(cx, subject, parts)
    places = _places(cx, parts)
    rest, axis = _others(cx, subject, parts, places)
    indices = [parts[place] for place in places]
    if len(indices) > 1:
        return _take_together(cx, rest, indices, axis)
    moved = _to_front(cx, rest, axis)
    taken = _take_rows(cx, moved, indices[0])
    if axis and _rank(indices[0]) != 1:
        raise cx.error("an index array of rank above 1 must stand in front", show(indices[0].type))
    return _to_place(cx, taken, axis)


def _take_rows(cx: Frame, subject: AV, index: AV) -> AV:
    assert isinstance(subject.type, Array) and isinstance(index.type, Array)
    rest = array_sizes(cx, subject)[1:]
    rows = _fresh(cx, [_count(cx, index), *rest], subject.type.dtype)
    taken = call(cx, prelude(cx, "pullback.take_index"), [subject, _flat(cx, index), rows], {})
    if index.type.rank == 1:
        return taken
    return array_of(cx.e("view_reshape", taken.value, *array_sizes(cx, index), *rest), _writable(subject.type))


def _take_together(cx: Frame, subject: AV, indices: Sequence[AV], axis: int) -> AV:
    """a[i, j]: element by element of the index arrays, broadcast together."""
    assert isinstance(subject.type, Array)
    together = _broadcast_indices(cx, indices)
    _in_front(cx, indices, axis)
    rest = array_sizes(cx, subject)[len(indices) :]
    out = _fresh(cx, [_count(cx, together[0]), *rest], subject.type.dtype)
    name = f"pullback.take_{_COUNTS[len(indices)]}"
    taken = call(cx, prelude(cx, name), [subject, *[_flat(cx, i) for i in together], out], {})
    if _rank(together[0]) == 1:
        return taken
    shape = array_sizes(cx, together[0])
    return array_of(cx.e("view_reshape", taken.value, *shape, *rest), _writable(subject.type))


_COUNTS = {2: "pairs", 3: "triples"}


def _in_front(cx: Frame, indices: Sequence[AV], axis: int) -> None:
    if axis or len(indices) not in _COUNTS:
        raise cx.error(
            "this mixture of index arrays is not supported", ", ".join(show(i.type) for i in indices),
            "put two or three index arrays in front, or loop over the elements",
        )  # fmt: skip


def _broadcast_indices(cx: Frame, indices: Sequence[AV]) -> list[AV]:
    """Index arrays of one common shape, as int64."""

    def each(number: int) -> AV:
        def item(cx: Frame, items: Sequence[AV]) -> AV:
            return AV(Number(DType.I64, False), (convert(cx, items[number], DType.I64),))

        return elementwise(cx, indices, item)

    return [each(number) for number in range(len(indices))]


def _writable(type_: Array) -> Array:
    return Array(type_.dtype, type_.rank)


def _rank(av: AV) -> int:
    assert isinstance(av.type, Array)
    return av.type.rank


def _converted(cx: Frame, part: AV) -> AV:
    """Lists of ints as arrays."""
    return call(cx, AV(Builtin("numpy.array")), [part], {}) if isinstance(part.type, List) else part


def _without_masks(cx: Frame, subject: AV, parts: Sequence[AV]) -> list[AV]:
    """Masks of one axis as the numbers of their True elements."""
    found: list[AV] = []
    axis = 0
    for part in parts:
        if isinstance(part.type, Array) and _is_mask(part):
            if part.type.rank != 1:
                raise cx.error("a mask of several axes stands alone, in front", show(part.type), "use np.where")
            found.append(_positions(cx, subject, part, axis))
        else:
            found.append(part)
        axis += 0 if isinstance(part.type, NoneType) else 1
    return found


def _positions(cx: Frame, subject: AV, mask: AV, axis: int) -> AV:
    m, n = array_sizes(cx, subject)[axis], array_sizes(cx, mask)[0]
    message = (f"boolean index did not match indexed array along axis {axis}; size of axis is {{0}} but size of "
               "corresponding boolean axis is {1}")  # fmt: skip
    cx.check(cx.e("eq", m, n), "IndexError", message, m, n)
    out = _fresh(cx, [reduce_sum(cx, mask).value], DType.I64)
    return call(cx, prelude(cx, "pullback.positions"), [mask, out], {})


def _mask_in_front(parts: Sequence[AV]) -> bool:
    return isinstance(parts[0].type, Array) and _is_mask(parts[0]) and all(_is_full(part) for part in parts[1:])


def _places(cx: Frame, parts: Sequence[AV]) -> list[int]:
    """Which parts are arrays of ints; they stand side by side."""
    places = [i for i, part in enumerate(parts) if isinstance(part.type, Array)]
    for place in places:
        type_ = parts[place].type
        assert isinstance(type_, Array)
        if type_.dtype.is_float:
            raise cx.error("arrays used as indices must be of int or bool", show(type_))
        if type_.dtype is DType.BOOL:
            raise cx.error("a mask stands in front, with full slices after it", show(type_), "use np.where")
    if places[-1] - places[0] != len(places) - 1:
        raise cx.error("index arrays with something else between them are not supported", "", "transpose first")
    return places


def _others(cx: Frame, subject: AV, parts: Sequence[AV], places: Sequence[int]) -> tuple[AV, int]:
    """The view that the other parts pick, and the axis in it where the index arrays act."""
    axis = sum(1 for part in parts[: places[0]] if isinstance(part.type, Slice | NoneType))
    plain = [full_slice() if i in places else part for i, part in enumerate(parts)]
    return (subject if all(map(_is_full, plain)) else view(cx, subject, plain)), axis


def _to_front(cx: Frame, subject: AV, axis: int) -> AV:
    assert isinstance(subject.type, Array)
    if axis == 0:
        return subject
    perm = (axis, *(i for i in range(subject.type.rank) if i != axis))
    return array_of(cx.e("view_transpose", subject.value, perm=perm), subject.type)


def _to_place(cx: Frame, subject: AV, axis: int) -> AV:
    assert isinstance(subject.type, Array)
    if axis == 0:
        return subject
    order = list(range(1, subject.type.rank))
    order.insert(axis, 0)
    return array_of(cx.e("view_transpose", subject.value, perm=tuple(order)), subject.type)


def _is_full(part: AV) -> bool:
    return isinstance(part.type, Slice) and all(isinstance(p, NoneType) for p in part.type.parts)


def _is_mask(index: AV) -> bool:
    assert isinstance(index.type, Array)
    return index.type.dtype is DType.BOOL


def _fresh(cx: Frame, sizes: Sequence[Value], dtype: DType) -> AV:
    return AV(Array(dtype, len(sizes), True), (cx.e("array_empty", *sizes, dtype=dtype),))


def _count(cx: Frame, array: AV) -> Value:
    total = cx.e.integer(1)
    for size in array_sizes(cx, array):
        total = cx.e("mul", total, size)
    return total


def _flat(cx: Frame, array: AV) -> AV:
    """All elements in a row: the array itself, or a copy."""
    assert isinstance(array.type, Array)
    if array.type.rank == 1:
        return array
    whole = array if array.type.contiguous else elementwise(cx, [array], lambda cx, items: items[0])
    return array_of(cx.e("view_reshape", whole.value, _count(cx, array)), array.type)


def _match(cx: Frame, subject: AV, mask: AV) -> None:
    assert isinstance(mask.type, Array)
    sizes, others = array_sizes(cx, subject), array_sizes(cx, mask)
    for axis, (m, n) in enumerate(zip(sizes, others, strict=False)):
        message = (f"boolean index did not match indexed array along axis {axis}; size of axis is {{0}} but size of "
                   "corresponding boolean axis is {1}")  # fmt: skip
        cx.check(cx.e("eq", m, n), "IndexError", message, m, n)


def _take_mask(cx: Frame, subject: AV, mask: AV) -> AV:
    assert isinstance(subject.type, Array) and isinstance(mask.type, Array)
    _match(cx, subject, mask)
    rest = array_sizes(cx, subject)[mask.type.rank :]
    chosen = reduce_sum(cx, mask).value
    dtype, rank = subject.type.dtype, subject.type.rank
    if mask.type.rank == rank:
        subject, mask = _flat(cx, subject), _flat(cx, mask)
    elif len(rest) != rank - 1:
        raise cx.error("a mask has as many axes as the array, or one", f"{show(mask.type)} on {show(subject.type)}")
    out = _fresh(cx, [chosen, *rest], dtype)
    return call(cx, prelude(cx, "pullback.take_mask"), [subject, mask, out], {})


def set_fancy(cx: Frame, subject: AV, parts: Sequence[AV], value: AV) -> None:
    """a[idx] = value, a[mask] = value."""
    parts = [_converted(cx, part) for part in parts]
    if _mask_in_front(parts):
        _set_mask(cx, subject, parts[0], as_number(cx, value))
        return
    parts = _without_masks(cx, subject, parts)
    places = _places(cx, parts)
    rest, axis = _others(cx, subject, parts, places)
    indices = [parts[place] for place in places]
    if len(indices) > 1:
        _in_front(cx, indices, axis)
        together = _broadcast_indices(cx, indices)
        values = _values(cx, rest, together[0], len(indices), 0, value)
        name = f"pullback.set_{_COUNTS[len(indices)]}"
        call(cx, prelude(cx, name), [rest, *[_flat(cx, i) for i in together], values], {})
        return
    values = _values(cx, rest, indices[0], 1, axis, value)
    call(cx, prelude(cx, "pullback.set_index"), [_to_front(cx, rest, axis), _flat(cx, indices[0]), values], {})


def _values(cx: Frame, subject: AV, index: AV, used: int, axis: int, value: AV) -> AV:
    """The value broadcast to the shape of what is assigned to, the indexed axes joined and moved to the front."""
    assert isinstance(subject.type, Array)
    sizes, chosen = array_sizes(cx, subject), array_sizes(cx, index)
    if axis and len(chosen) != 1:
        raise cx.error("an index array of rank above 1 must stand in front", show(index.type))
    values = _fresh(cx, [*sizes[:axis], *chosen, *sizes[axis + used :]], subject.type.dtype)
    fill(cx, values, value)
    if len(chosen) == 1:
        return _to_front(cx, values, axis)
    rest = sizes[used:]
    return array_of(cx.e("view_reshape", values.value, _count(cx, index), *rest), _writable(subject.type))


def _set_mask(cx: Frame, subject: AV, mask: AV, value: AV) -> None:
    assert isinstance(subject.type, Array) and isinstance(mask.type, Array)
    _match(cx, subject, mask)
    if isinstance(value.type, Number):
        _select(cx, subject, mask, value)
        return
    chosen = reduce_sum(cx, mask).value
    values = _fresh(cx, [chosen, *array_sizes(cx, subject)[mask.type.rank :]], subject.type.dtype)
    if isinstance(value.type, Array) and value.type.rank == 1 and mask.type.rank == subject.type.rank:
        given = array_sizes(cx, value)[0]
        enough = cx.e("or_", cx.e("eq", given, chosen), cx.e("eq", given, cx.e.integer(1)))
        message = ("NumPy boolean array indexing assignment cannot assign {0} input values to the {1} output values "
                   "where the mask is true")  # fmt: skip
        cx.check(enough, "ValueError", message, given, chosen)
    fill(cx, values, value)
    if mask.type.rank == subject.type.rank:
        start = AV(WEAK_INT, (cx.e.integer(0),))
        call(cx, prelude(cx, "pullback.set_mask"), [subject, mask, values, start], {})
    elif mask.type.rank == 1:
        call(cx, prelude(cx, "pullback.set_mask_rows"), [subject, mask, values], {})
    else:
        raise cx.error("a mask has as many axes as the array, or one", f"{show(mask.type)} on {show(subject.type)}")


def _select(cx: Frame, subject: AV, mask: AV, value: AV) -> None:
    """a = where(mask, value, a) in place."""
    assert isinstance(subject.type, Array) and isinstance(mask.type, Array)
    dtype, missing = subject.type.dtype, subject.type.rank - mask.type.rank
    for _ in range(missing):
        assert isinstance(mask.type, Array)
        mask = array_of(cx.e("view_expand", mask.value, axis=mask.type.rank), mask.type)

    def rule(cx: Frame, items: Sequence[AV]) -> AV:
        condition, new, old = items
        return AV(Number(dtype, False), (cx.e("select", condition.value, convert(cx, new, dtype), old.value),))

    elementwise(cx, [mask, value, subject], rule, output="set", target=subject)

