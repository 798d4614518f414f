"""Arrays with their elements repeated, rotated, put in and taken out: tile, repeat, roll, insert, delete.

    np.tile(a, (2, 3))      one broadcasting pass into (2, n, 3, m), which is then seen as (2n, 3m)
    np.roll(a, k, axis=0)   two parts of a fresh array are set
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pullback.infer.calls import call
from pullback.infer.creation import array_like, array_or_number, empty, sizes_of
from pullback.infer.elementwise import array_sizes, elementwise, ordered_as, product, require_room
from pullback.infer.engine import Frame
from pullback.infer.filling import copy, fill, write
from pullback.infer.indexing import subscript
from pullback.infer.lattice import WEAK_INT
from pullback.infer.numbers import as_number
from pullback.infer.numpy.axes import Rule, expanded, is_none, moved_axis, of_array, rank_of, several
from pullback.infer.numpy.shapes import axis_of, flattened, reshaped
from pullback.infer.numpy.splitting import between
from pullback.infer.registry import HANDLERS, prelude
from pullback.infer.values import AV
from pullback.infer.views import array_of, checked_index, integer
from pullback.ir.node import Value
from pullback.types import Array, DType, List, Number, Slice, Tuple, show

__all__ = ["dtype_in", "on_first", "spread_to", "weak"]


def dtype_in(av: AV) -> DType:
    """The dtype of an array."""
    assert isinstance(av.type, Array)
    return av.type.dtype


def weak(value: Value) -> AV:
    """A machine int as a Python int."""
    return AV(WEAK_INT, (value,))


def on_first(cx: Frame, av: AV, axis: int, size: Value, name: str, *extra: AV) -> AV:
    """A fresh array like another but for the size of an axis, filled by a function of the prelude along that axis."""
    sizes = array_sizes(cx, av)
    sizes[axis] = size
    require_room(cx, sizes, dtype_in(av))
    out = empty(cx, sizes, dtype_in(av))
    call(cx, prelude(cx, name), [moved_axis(cx, av, axis, 0), *extra, moved_axis(cx, out, axis, 0)], {})
    return ordered_as(out, [av])


def spread_to(cx: Frame, av: AV, sizes: Sequence[Value]) -> AV:
    """A fresh array of these sizes, to which the array broadcasts."""
    require_room(cx, sizes, dtype_in(av))
    return elementwise(
        cx, [av], lambda cx, items: items[0], output="set", target=empty(cx, sizes, dtype_in(av))
    )  # fmt: skip


def _times(cx: Frame, m: Value, n: Value) -> Value:
    return cx.e("mul", m, n)


# ------------------------------------------------------------------------------------------------- tile and repeat


def _tile(cx: Frame, av: AV, found: Mapping[str, AV]) -> AV:
    parts = several(cx, found["reps"], "reps")
    while rank_of(av) < len(parts):
        av = expanded(cx, av, 0)
    ones = [AV(WEAK_INT, (cx.e.integer(1),), 1)] * (rank_of(av) - len(parts))
    sizes = array_sizes(cx, av)
    wide, whole = list[Value](), list[Value]()
    for part, size in zip([*ones, *parts], sizes, strict=True):
        if cx.literal_of(part) == 1:
            wide.append(size)
            whole.append(size)
            continue
        count = integer(cx, part)
        cx.check(cx.e("ge", count, cx.e.integer(0)), "ValueError", "negative dimensions are not allowed")
        av = expanded(cx, av, len(wide))
        wide += [count, size]
        whole.append(_times(cx, count, size))
    if len(wide) == len(whole):
        return copy(cx, av, rows=True)
    spread = spread_to(cx, av, wide)
    return _seen_as(cx, spread, whole)


def _seen_as(cx: Frame, av: AV, sizes: Sequence[Value]) -> AV:
    """A contiguous array under another shape."""
    value = cx.e("view_reshape", av.value, *sizes)
    return AV(Array(dtype_in(av), len(sizes), True), (value,))


def _repeat(cx: Frame, av: AV, found: Mapping[str, AV]) -> AV:
    if is_none(found, "axis"):
        av, axis = flattened(cx, av), 0
    else:
        axis = axis_of(cx, found["axis"], rank_of(av))
    counts = array_or_number(cx, found["repeats"])
    if isinstance(counts.type, Array):
        return _repeat_each(cx, av, axis, counts)
    count = integer(cx, counts)
    cx.check(cx.e("ge", count, cx.e.integer(0)), "ValueError", "negative dimensions are not allowed")
    sizes = array_sizes(cx, av)
    spread = spread_to(cx, expanded(cx, av, axis + 1), [*sizes[: axis + 1], count, *sizes[axis + 1 :]])
    return _seen_as(cx, spread, [*sizes[:axis], _times(cx, sizes[axis], count), *sizes[axis + 1 :]])


def _repeat_each(cx: Frame, av: AV, axis: int, counts: AV) -> AV:
    assert isinstance(counts.type, Array)
    if counts.type.rank != 1 or not (counts.type.dtype.is_int or counts.type.dtype is DType.BOOL):
        raise cx.error("repeats is an int or ints in one row", show(counts.type), "convert with .astype(int)")
    e, size, given = cx.e, cx.e("array_size", av.value, axis=axis), cx.e("array_size", counts.value, axis=0)
    single = e("eq", given, e.integer(1))
    fits = e("or_", e("eq", size, given), single)
    cx.check(fits, "ValueError", "operands could not be broadcast together with shape ({0},) ({1},)", size, given)
    wide = spread_to(cx, counts, [size])
    total = call(cx, prelude(cx, "pullback.repeat_total"), [wide], {})
    return on_first(cx, av, axis, integer(cx, total), "pullback.repeat_rows", wide)


def _resize(cx: Frame, av: AV, found: Mapping[str, AV]) -> AV:
    sizes = sizes_of(cx, found["new_shape"], dtype_in(av))
    flat = flattened(cx, av)
    total = product(cx, [])[0]
    for size in sizes:
        total = cx.e("mul", total, size)
    none = cx.e("eq", cx.e("array_size", flat.value, axis=0), cx.e.integer(0))

    def repeated() -> list[AV]:
        fresh = empty(cx, [total], dtype_in(av))
        return [call(cx, prelude(cx, "pullback.resize"), [flat, fresh], {})]

    (row,) = cx.choose(none, lambda: [empty(cx, [total], dtype_in(av), "array_zeros")], repeated)
    return reshaped(cx, row, [weak(size) for size in sizes])


# ------------------------------------------------------------------------------------------------------------ roll


def _roll(cx: Frame, av: AV, found: Mapping[str, AV]) -> AV:
    shifts = several(cx, found["shift"], "shift")
    if is_none(found, "axis"):
        row = flattened(cx, av)
        for each in shifts:
            row = _rolled(cx, row, 0, integer(cx, each))
        return row if rank_of(av) == 1 else reshaped(cx, row, [weak(size) for size in array_sizes(cx, av)])
    axes = [axis_of(cx, part, rank_of(av)) for part in several(cx, found["axis"], "axes")]
    count = max(len(axes), len(shifts))
    if len(axes) not in (1, count) or len(shifts) not in (1, count):
        raise cx.error("shift and axis of np.roll have as many items, or one", f"{len(shifts)} and {len(axes)}")
    axes, shifts = axes * (count // len(axes)), shifts * (count // len(shifts))
    for each, place in zip(shifts, axes, strict=True):
        av = _rolled(cx, av, place, integer(cx, each))
    return av


def _rolled(cx: Frame, av: AV, axis: int, shift: Value) -> AV:
    e, size = cx.e, cx.e("array_size", av.value, axis=axis)
    count = e("mod", shift, e("maximum", size, e.integer(1)))
    rest = e("sub", size, count)
    out = empty(cx, array_sizes(cx, av), dtype_in(av))
    for source, target, length in ((e.integer(0), count, rest), (rest, e.integer(0), count)):
        write(cx, _range(cx, out, axis, target, length), [_range(cx, av, axis, source, length)], lambda cx, i: i[0])
    return ordered_as(out, [av])


def _range(cx: Frame, av: AV, axis: int, start: Value, length: Value) -> AV:
    assert isinstance(av.type, Array)
    view = cx.e("view_slice", av.value, start, length, cx.e.integer(1), axis=axis, unit=True)
    return array_of(view, av.type)


# -------------------------------------------------------------------------------------------------- insert, delete


def _flat_axis(cx: Frame, av: AV, found: Mapping[str, AV]) -> tuple[AV, int]:
    if is_none(found, "axis"):
        return flattened(cx, av), 0
    return av, axis_of(cx, found["axis"], rank_of(av))


def _insert(cx: Frame, av: AV, found: Mapping[str, AV]) -> AV:
    av, axis = _flat_axis(cx, av, found)
    where, values = as_number(cx, found["obj"]), array_like(cx, as_number(cx, found["values"]))
    if isinstance(where.type, Slice):
        raise cx.error("np.insert takes an int or ints", show(where.type), "write np.arange(...) for the slice")
    if isinstance(where.type, Number):
        return _insert_at(cx, av, axis, where, values)
    index = array_like(cx, where)
    assert isinstance(index.type, Array)
    if index.type.dtype is DType.BOOL or index.type.rank != 1:
        raise cx.error("np.insert takes an int or ints in one row", show(index.type))
    sizes = array_sizes(cx, av)
    count, size = cx.e("array_size", index.value, axis=0), sizes[axis]
    _check_places(cx, index, size)
    broadcast = empty(cx, [*sizes[:axis], count, *sizes[axis + 1 :]], dtype_in(av))
    fill(cx, broadcast, values, exact=False)
    total = cx.e("add", size, count)
    return on_first(cx, av, axis, total, "pullback.insert_rows", index, moved_axis(cx, broadcast, axis, 0))


def _check_places(cx: Frame, index: AV, size: Value) -> None:
    """An IndexError unless each number is an index of an axis one longer."""
    probe = empty(cx, [cx.e("add", size, cx.e.integer(1))], DType.BOOL, "array_zeros")
    subscript(cx, probe, index)


def _insert_at(cx: Frame, av: AV, axis: int, where: AV, values: AV) -> AV:
    e, sizes = cx.e, array_sizes(cx, av)
    index, size = integer(cx, where), sizes[axis]
    inside = e("and_", e("ge", index, e("neg", size)), e("le", index, size))
    message = f"index {{0}} is out of bounds for axis {axis} with size {{1}}"
    cx.check(inside, "IndexError", message, index, size)
    start = e("select", e("lt", index, e.integer(0)), e("add", index, size), index)
    scalar = rank_of(values) == 0
    while rank_of(values) < rank_of(av):
        values = expanded(cx, values, 0)
    if not scalar:  # as NumPy does where one place is named: the first axis of the values is the one put in
        values = moved_axis(cx, values, 0, axis)
    count = array_sizes(cx, values)[axis]
    total = [*sizes[:axis], e("add", size, count), *sizes[axis + 1 :]]
    require_room(cx, total, dtype_in(av))
    out = empty(cx, total, dtype_in(av))
    after = e("sub", size, start)
    write(cx, _range(cx, out, axis, e.integer(0), start), [_range(cx, av, axis, e.integer(0), start)], _first)
    fill(cx, _range(cx, out, axis, start, count), values, exact=False)
    tail = _range(cx, out, axis, e("add", start, count), after)
    write(cx, tail, [_range(cx, av, axis, start, after)], _first)
    return ordered_as(out, [av])


def _first(cx: Frame, items: Sequence[AV]) -> AV:
    return items[0]


def _delete(cx: Frame, av: AV, found: Mapping[str, AV]) -> AV:
    av, axis = _flat_axis(cx, av, found)
    where = as_number(cx, found["obj"])
    if isinstance(where.type, Tuple):
        where = array_like(cx, where) if where.type.items else where
    if isinstance(where.type, Number):
        size = array_sizes(cx, av)[axis]
        message = f"index {{0}} is out of bounds for axis {axis} with size {{1}}"
        index = checked_index(cx, where, size, "IndexError", message, integer(cx, where), size)
        return _without(cx, av, axis, index)
    if isinstance(where.type, List) and where.type.items:
        where = array_like(cx, where)
    if isinstance(where.type, Array) and where.type.dtype is DType.BOOL:
        _check_mask(cx, where, array_sizes(cx, av)[axis])
    taken = call(cx, prelude(cx, "pullback.delete_rows"), [moved_axis(cx, av, axis, 0), where], {})
    return ordered_as(taken if axis == 0 else copy(cx, moved_axis(cx, taken, 0, axis), rows=True), [av])


def _check_mask(cx: Frame, mask: AV, size: Value) -> None:
    message = "boolean array argument obj to delete must be one dimensional and match the axis length of {0}"
    if rank_of(mask) != 1:
        raise cx.error(message.format("it"), show(mask.type), raised=("ValueError", message.format("?")))
    cx.check(cx.e("eq", array_sizes(cx, mask)[0], size), "ValueError", message, size)


def _without(cx: Frame, av: AV, axis: int, index: Value) -> AV:
    e, sizes = cx.e, array_sizes(cx, av)
    zero, one = e.integer(0), e.integer(1)
    rest = e("sub", e("sub", sizes[axis], index), one)
    out = empty(cx, [*sizes[:axis], e("sub", sizes[axis], one), *sizes[axis + 1 :]], dtype_in(av))
    write(cx, _range(cx, out, axis, zero, index), [_range(cx, av, axis, zero, index)], _first)
    write(cx, _range(cx, out, axis, index, rest), [_range(cx, av, axis, e("add", index, one), rest)], _first)
    return ordered_as(out, [av])


def _trim_zeros(cx: Frame, av: AV, found: Mapping[str, AV]) -> AV:
    trim = getattr(found["trim"].type, "value", None) if "trim" in found else "fb"
    if rank_of(av) != 1 or not isinstance(trim, str):
        raise cx.error("np.trim_zeros takes one row, and which ends to trim as a string", show(av.type))
    low = call(cx, prelude(cx, "pullback.first_nonzero"), [av], {}) if "f" in trim.lower() else None
    high = call(cx, prelude(cx, "pullback.after_nonzero"), [av], {}) if "b" in trim.lower() else None
    return between(cx, av, 0, low, high)


_ROWS: dict[str, tuple[tuple[str, ...], Rule]] = {
    "tile": (("A", "reps"), _tile), "repeat": (("a", "repeats", "axis"), _repeat),
    "roll": (("a", "shift", "axis"), _roll), "resize": (("a", "new_shape"), _resize),
    "insert": (("arr", "obj", "values", "axis"), _insert), "delete": (("arr", "obj", "axis"), _delete),
    "trim_zeros": (("filt", "trim"), _trim_zeros),
}  # fmt: skip
HANDLERS.update({f"numpy.{name}": of_array(f"numpy.{name}", *row) for name, row in _ROWS.items()})
