"""Indexing of arrays: elements, rows, slices, new axes; each a view of the same memory.

    a[i, 1:-1]      view_index(axis 0), view_slice(axis 0 of what is left)
    a[..., None]    view_expand
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pullback.infer.dispatch import dispatch
from pullback.infer.engine import Frame
from pullback.infer.heaps import kind_of
from pullback.infer.lattice import ELLIPSIS, WEAK_BOOL, WEAK_INT, known_ones
from pullback.infer.lists import range_length
from pullback.infer.numbers import as_number, python_int
from pullback.infer.registry import HANDLERS
from pullback.infer.static import static_items
from pullback.infer.values import AV, MISSING, items_of
from pullback.ir.node import Value
from pullback.types import (
    Array,
    ArrayRef,
    Constant,
    DType,
    List,
    NoneType,
    Number,
    Range,
    Ref,
    Slice,
    Tuple,
    Union,
    show,
)  # fmt: skip

__all__ = [
    "array_element", "array_of", "checked_index", "element_indices", "fancy_parts", "full_slice", "holds_scalar_arrays",
    "index_parts", "indexed", "is_element", "range_slice", "view",
]  # fmt: skip


def array_of(
    value: Value, model: Array, ones: Sequence[bool | None] = (), *, perm: Sequence[int] | None = None
) -> AV:
    """The abstract value of a view: writable as its model is.  `ones`: what is known of its sizes.

    perm: the axes of the model in their new order, where it may be another one.
    """
    type_ = value.type
    assert isinstance(type_, ArrayRef)
    turned = perm is not None and list(perm) != list(range(len(perm)))
    gaps, table = not type_.contiguous and type_.rank > 1, type_.rank == model.rank == 2
    rows = gaps and (model.columns and table if turned else model.row_major)
    columns = gaps and table and (model.row_major if turned else model.columns)
    known = known_ones(ones)
    found = Array(type_.dtype, type_.rank, type_.contiguous, model.readonly, known, rows, columns, model.foreign,
                  model.gaps)  # fmt: skip
    return AV(found, (value,))


def integer(cx: Frame, index: AV) -> Value:
    """An index as a machine int; Python's and NumPy's ints may take turns."""
    if isinstance(index.type, Union):
        return dispatch(cx, [index], lambda cx, one: AV(WEAK_INT, (integer(cx, one[0]),))).value
    index = as_number(cx, index)
    if not isinstance(index.type, Number) or index.type.dtype.is_float:
        help = "convert with int(...)" if isinstance(index.type, Number) else ""
        raise cx.error(f"an index must be an int, not {show(index.type)}", "ints, slices and arrays of them are", help)
    return python_int(cx, index)


def checked_index(cx: Frame, index: AV, size: Value, exception: str, message: str, *payload: Value) -> Value:
    """The index counted from the start, after the bounds check."""
    i = integer(cx, index)
    wrapped = cx.e("wrap_index", i, size)
    if cx.options.boundscheck:
        cx.check(cx.e("ult", wrapped, size), exception, message, *payload)
    return wrapped


def index_parts(cx: Frame, subject: AV, index: AV) -> list[AV]:
    """The parts of an index: the ellipsis replaced by full slices, 0-d arrays of ints by their numbers.

    An ellipsis that stands for no axis stays: a[0, ...] of a 1-D array is a view, not an element.
    """
    assert isinstance(subject.type, Array)
    several = isinstance(index.type, Tuple) or (isinstance(index.type, Ref) and kind_of(index.type) == "tuple")
    parts = static_items(cx, index, "an index") if several else [index]
    parts = [_as_part(cx, part) for part in parts]
    for part in parts:
        if isinstance(part.type, Constant) or part.type in (WEAK_BOOL, Number(DType.BOOL, False)):
            raise cx.error("an array cannot be indexed with one bool here", "NumPy would add an axis",
                           "write a[None] to add an axis, or int(flag) to choose an element")  # fmt: skip
    if sum(map(_is_ellipsis, parts)) > 1:
        title = "an index can only have a single ellipsis ('...')"
        raise cx.error(title, "NumPy refuses this too", "write `:` instead")
    used = sum(_axes(part) for part in parts)
    if used > subject.type.rank:
        raise cx.error(
            f"too many indices for array: array is {subject.type.rank}-dimensional, but {used} were indexed",
            show(subject.type),
        )
    expanded: list[AV] = []
    for part in parts:
        if _is_ellipsis(part) and used < subject.type.rank:
            expanded += [full_slice() for _ in range(subject.type.rank - used)]
        else:
            expanded.append(part)
    return expanded


def _as_part(cx: Frame, part: AV) -> AV:
    """A 0-d array as its number; a list of run-time length, or a range, as the array of its items."""
    if isinstance(part.type, Range) or kind_of(part.type) == "list":
        return HANDLERS["numpy.array"](cx, [part], {})
    return as_number(cx, part) if isinstance(part.type, Array) else part


def holds_scalar_arrays(index: AV) -> bool:
    """Is a part of the index a 0-d array: NumPy copies what such an index reads."""
    parts = items_of(index) if isinstance(index.type, Tuple) else [index]
    return any(isinstance(part.type, Array) and part.type.rank == 0 for part in parts)


def full_slice() -> AV:
    """The slice `:`."""
    none = NoneType()
    return AV(Slice((none, none, none)))


def _is_ellipsis(part: AV) -> bool:
    return part.type == ELLIPSIS


def _axes(part: AV) -> int:
    """How many axes of the array an index part uses up."""
    if _is_ellipsis(part) or isinstance(part.type, NoneType):
        return 0
    if isinstance(part.type, Array) and part.type.dtype is DType.BOOL:
        return part.type.rank
    return 1


def fancy_parts(parts: Sequence[AV]) -> bool:
    """Is one of the parts an array (or a list) of indices or a mask?"""
    return any(isinstance(part.type, Array | List) for part in parts)


def is_element(subject: AV, parts: Sequence[AV]) -> bool:
    """Do the parts pick a single element?"""
    assert isinstance(subject.type, Array)
    return len(parts) == subject.type.rank and not any(isinstance(p.type, Slice | NoneType | Array) for p in parts)


def element_indices(cx: Frame, subject: AV, parts: Sequence[AV]) -> list[Value]:
    """Checked indices, one per axis."""
    indices: list[Value] = []
    for axis, part in enumerate(parts):
        size = cx.e("array_size", subject.value, axis=axis)
        indices.append(_axis_index(cx, part, size, axis))
    return indices


def _axis_index(cx: Frame, part: AV, size: Value, axis: int) -> Value:
    message = f"index {{0}} is out of bounds for axis {axis} with size {{1}}"
    return checked_index(cx, part, size, "IndexError", message, integer(cx, part), size)


def indexed(cx: Frame, subject: AV, parts: Sequence[AV]) -> AV:
    """The element or the view that the parts pick."""
    if is_element(subject, parts):
        assert isinstance(subject.type, Array)
        value = cx.e("array_get", subject.value, *element_indices(cx, subject, parts))
        return AV(Number(subject.type.dtype, weak=False), (value,))
    return view(cx, subject, parts)


def array_element(cx: Frame, subject: AV, index: Value) -> AV:
    """Element or row number `index` (in range) of the first axis."""
    assert isinstance(subject.type, Array)
    if subject.type.rank == 1:
        return AV(Number(subject.type.dtype, weak=False), (cx.e("array_get", subject.value, index),))
    return array_of(cx.e("view_index", subject.value, index, axis=0), subject.type, subject.type.ones[1:])


def view(cx: Frame, subject: AV, parts: Sequence[AV]) -> AV:
    """The view that ints, slices and None pick."""
    assert isinstance(subject.type, Array)
    value, axis, source = subject.value, 0, 0
    ones: list[bool | None] = []
    for part in parts:
        match part.type:
            case NoneType():
                value = cx.e("view_expand", value, axis=axis)
                ones.append(True)
                axis += 1
            case _ if _is_ellipsis(part):
                pass
            case Slice():
                ones.append(subject.type.is_one(source) if _is_full(part) else None)
                value = _sliced(cx, value, part, axis)
                axis, source = axis + 1, source + 1
            case _:
                size = cx.e("array_size", value, axis=axis)
                value = cx.e("view_index", value, _axis_index(cx, part, size, source), axis=axis)
                source += 1
    rest = [subject.type.is_one(axis) for axis in range(source, subject.type.rank)]
    return array_of(value, subject.type, [*ones, *rest])


def _is_full(part: AV) -> bool:
    return isinstance(part.type, Slice) and all(isinstance(p, NoneType) for p in part.type.parts)


# --------------------------------------------------------------------------------------------------- slices


@dataclass(frozen=True, slots=True)
class _Bound:
    """A bound of a slice: a machine int and the number it is written as."""

    value: Value
    literal: object


def _sliced(cx: Frame, value: Value, part: AV, axis: int) -> Value:
    low, high, step = (_bound(cx, item) for item in items_of(part))
    if low is None and high is None and step is None:
        return value
    size = cx.e("array_size", value, axis=axis)
    if step is None or step.literal == 1:
        start, count = _forward(cx, low, high, size)
        return cx.e("view_slice", value, start, count, cx.e.integer(1), axis=axis, unit=True)
    start, count = _stepped(cx, low, high, step, size)
    return cx.e("view_slice", value, start, count, step.value, axis=axis, unit=False)


def range_slice(cx: Frame, subject: AV, part: AV) -> AV:
    """Some items of a range: a range."""
    start, _, stride = subject.values
    low, high, step = (_bound(cx, item) for item in items_of(part))
    size = range_length(cx, subject)
    if step is None or step.literal == 1:
        first, count = _forward(cx, low, high, size)
    else:
        first, count = _stepped(cx, low, high, step, size)
        stride = cx.e("mul", stride, step.value)
    return AV(Range(), (cx.e("add", start, cx.e("mul", first, subject.values[2])), count, stride))


def _bound(cx: Frame, item: AV) -> _Bound | None:
    if isinstance(item.type, NoneType):
        return None
    return _Bound(integer(cx, item), cx.literal_of(item))


def _at_most(cx: Frame, number: int, size: Value) -> Value:
    """min(number, size), for a number that is not negative."""
    return cx.e("minimum", cx.e.integer(number), size) if number else cx.e.integer(0)


def _less(cx: Frame, size: Value, number: int) -> Value:
    """max(size - number, 0): what literal bounds leave of an axis, written so that equal lengths are equal ops."""
    if number == 0:
        return size
    return cx.e("maximum", cx.e("sub", size, cx.e.integer(number)), cx.e.integer(0))


def _clamped(cx: Frame, bound: _Bound, size: Value) -> Value:
    """A bound of a slice with a positive step, inside [0, size]."""
    e = cx.e
    if isinstance(bound.literal, int):
        return _at_most(cx, bound.literal, size) if bound.literal >= 0 else _less(cx, size, -bound.literal)
    wrapped = e("wrap_index", bound.value, size)
    return e("maximum", e("minimum", wrapped, size), e.integer(0))


def _forward(cx: Frame, low: _Bound | None, high: _Bound | None, size: Value) -> tuple[Value, Value]:
    """Start and count of low:high."""
    start = _clamped(cx, low, size) if low is not None else cx.e.integer(0)
    first = 0 if low is None else low.literal
    if isinstance(first, int) and first >= 0:
        if high is None:
            return start, _less(cx, size, first)
        if isinstance(high.literal, int) and high.literal < 0:
            return start, _less(cx, size, first - high.literal)
    stop = _clamped(cx, high, size) if high is not None else size
    if low is None:
        return start, stop
    return start, cx.e("maximum", cx.e("sub", stop, start), cx.e.integer(0))


def _stepped(
    cx: Frame, low: _Bound | None, high: _Bound | None, step: _Bound, size: Value
) -> tuple[Value, Value]:
    """slice.indices for any step: start and count."""
    e = cx.e
    zero, one = e.integer(0), e.integer(1)
    if step.literal is MISSING or step.literal == 0:
        cx.check(e("ne", step.value, zero), "ValueError", "slice step cannot be zero")
    down = e("lt", step.value, zero)
    lowest = e("select", down, e.integer(-1), zero)
    highest = e("select", down, e("sub", size, one), size)

    def inside(bound: _Bound) -> Value:
        wrapped = e("wrap_index", bound.value, size)
        return e("maximum", e("minimum", wrapped, highest), lowest)

    start = inside(low) if low is not None else e("select", down, highest, lowest)
    stop = inside(high) if high is not None else e("select", down, lowest, highest)
    # ceil((stop - start) / step) as a floor division, for either sign of the step
    count = e("neg", e("floordiv", e("sub", start, stop), step.value))
    return start, e("maximum", count, zero)
