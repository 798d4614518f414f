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
from pullback.infer.views import array_of
from pullback.ir.node import Value
from pullback.types import Array, Builtin, DType, List, NoneType, Number, Slice, show

__all__ = ["set_fancy", "take"]


def take(cx: Frame, subject: AV, parts: Sequence[AV]) -> AV:
    """A copy of what an array of ints or a mask picks."""
    index = _index_array(cx, parts)
    if _is_mask(index):
        return _take_mask(cx, subject, index)
    assert isinstance(subject.type, Array) and isinstance(index.type, Array)
    rest = array_sizes(cx, subject)[1:]
    count = _count(cx, index)
    rows = _fresh(cx, [count, *rest], subject.type.dtype)
    taken = call(cx, prelude(cx, "pullback.take_index"), [subject, _flat(cx, index), rows], {})
    if index.type.rank == 1:
        return taken
    return array_of(cx.e("view_reshape", taken.value, *array_sizes(cx, index), *rest), subject.type)


def _index_array(cx: Frame, parts: Sequence[AV]) -> AV:
    first, *rest = parts
    if any(not _is_full(part) for part in rest):
        raise cx.error(
            "this mixture of index arrays is not supported", ", ".join(show(p.type) for p in parts),
            "index with one array of ints or one mask in front, or loop over the elements",
        )  # fmt: skip
    if isinstance(first.type, List):
        first = call(cx, AV(Builtin("numpy.array")), [first], {})
    if not isinstance(first.type, Array):
        raise cx.error(
            "index arrays are supported in front only", ", ".join(show(p.type) for p in parts), "transpose first"
        )
    if first.type.dtype.is_float:
        raise cx.error("arrays used as indices must be of int or bool", show(first.type))
    return first


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
    index = _index_array(cx, parts)
    assert isinstance(subject.type, Array) and isinstance(index.type, Array)
    if _is_mask(index):
        _set_mask(cx, subject, index, as_number(cx, value))
        return
    shape = [*array_sizes(cx, index), *array_sizes(cx, subject)[1:]]
    values = _fresh(cx, shape, subject.type.dtype)
    fill(cx, values, value)
    rest = array_sizes(cx, subject)[1:]
    flat = values
    if index.type.rank != 1:
        flat = array_of(cx.e("view_reshape", values.value, _count(cx, index), *rest), subject.type)
    call(cx, prelude(cx, "pullback.set_index"), [subject, _flat(cx, index), flat], {})


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

