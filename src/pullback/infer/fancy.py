"""Index arrays and masks: a[idx], a[mask] and assignment to them, by loops of the prelude.

    a[idx]             fresh array of shape idx.shape + a.shape[1:], filled row by row
    a[mask]            fresh array of as many rows (elements) as the mask has True
    a[mask] = 0.0      elementwise select written back
    a[idx] = b         in the order of idx: of a repeated index the last write stays

All numbers of index arrays are checked before anything is written, and what is written never shares memory with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pullback.infer.arithmetic import binary
from pullback.infer.binding import pack_tuple
from pullback.infer.calls import call
from pullback.infer.creation import empty
from pullback.infer.elementwise import array_sizes, broadcast, elementwise, reduce_sum
from pullback.infer.engine import Frame
from pullback.infer.filling import INDEXED, apart, copy, element, fill, writable
from pullback.infer.lattice import ELLIPSIS, WEAK_INT
from pullback.infer.numbers import as_number, convert
from pullback.infer.registry import prelude
from pullback.infer.values import AV, MISSING
from pullback.infer.views import array_of, full_slice, view
from pullback.ir.node import Value
from pullback.types import Array, Builtin, DType, List, NoneType, Number, Slice, show

__all__ = [
    "apply_at", "check_index", "set_fancy", "set_mask_parts", "take", "take_mask_parts", "true_places", "unraveled",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Plan:
    """How an index acts that holds arrays of ints.

    subject: a view whose first axes, as many as there are index arrays, are the indexed ones.
    indices: the index arrays, of one shape.  axes: the axis of the whole array that each of them indexes.
    place: where their own axes stand in the result.
    """

    subject: AV
    indices: tuple[AV, ...]
    axes: tuple[int, ...]
    place: int

    @property
    def rank(self) -> int:
        """The rank of the index arrays."""
        return _rank(self.indices[0])

    def result_order(self) -> tuple[int, ...]:
        """The axes of an array that begins with those of the index arrays, in the order of the result."""
        others = list(range(self.rank, self.rank + _rank(self.subject) - len(self.indices)))
        return (*others[: self.place], *range(self.rank), *others[self.place :])


def take(cx: Frame, subject: AV, parts: Sequence[AV]) -> AV:
    """A copy of what arrays of ints or a mask pick."""
    parts = _converted(cx, parts)
    if _mask_in_front(subject, parts):
        return _take_mask(cx, subject, parts[0])
    plan = _plan(cx, subject, _without_masks(cx, subject, parts))
    if plan.axes != (0,):  # else the loop reports what is out of range in the same words
        _check_indices(cx, plan)
    rest = array_sizes(cx, plan.subject)[len(plan.indices) :]
    rows = _fresh(cx, [_count(cx, plan.indices[0]), *rest], _dtype(subject))
    taken = call(cx, prelude(cx, f"pullback.take_{_how(plan)}"), [plan.subject, *_rows(cx, plan), rows], {})
    if plan.rank != 1:
        shape = array_sizes(cx, plan.indices[0])
        taken = array_of(cx.e("view_reshape", taken.value, *shape, *rest), _writable(subject))
    return _transposed(cx, taken, plan.result_order())


_COUNTS = {1: "index", 2: "pairs", 3: "triples"}


def _how(plan: _Plan) -> str:
    """Which function of the prelude goes through so many index arrays."""
    return _COUNTS.get(len(plan.indices), "many")


def _rows(cx: Frame, plan: _Plan) -> list[AV]:
    """The index arrays as that function takes them: each in one row, from the fourth on in a tuple."""
    flat = [_flat(cx, index) for index in plan.indices]
    return flat if len(flat) in _COUNTS else [pack_tuple(flat)]


def _plan(cx: Frame, subject: AV, parts: Sequence[AV]) -> _Plan:
    places = _places(cx, parts)
    plain = [full_slice() if i in places else part for i, part in enumerate(parts)]
    rest = subject if all(map(_is_full, plain)) else view(cx, subject, plain)
    kept = [isinstance(part.type, Slice | NoneType) for part in plain]
    positions = [sum(kept[:place]) for place in places]
    # Ints beside index arrays count as such: if all stand side by side the result's axes stand there, else in front.
    advanced = [i for i, part in enumerate(parts) if not isinstance(part.type, Slice | NoneType)]
    together = advanced[-1] - advanced[0] == len(advanced) - 1
    others = [axis for axis in range(_rank(rest)) if axis not in positions]
    indices = _broadcast_indices(cx, [parts[place] for place in places])
    axes = tuple(sum(not isinstance(part.type, NoneType) for part in parts[:place]) for place in places)
    place = sum(kept[: advanced[0]]) if together else 0
    return _Plan(_transposed(cx, rest, (*positions, *others)), tuple(indices), axes, place)


def _transposed(cx: Frame, av: AV, perm: tuple[int, ...]) -> AV:
    assert isinstance(av.type, Array)
    if perm == tuple(range(len(perm))):
        return av
    return array_of(cx.e("view_transpose", av.value, perm=perm), av.type, perm=perm)


def _broadcast_indices(cx: Frame, indices: Sequence[AV]) -> list[AV]:
    """Index arrays of one common shape."""
    if len(indices) == 1:
        return list(indices)
    broadcast(cx, indices, what="shape mismatch: indexing arrays")

    def each(number: int) -> AV:
        def item(cx: Frame, items: Sequence[AV]) -> AV:
            return AV(Number(DType.I64, False), (convert(cx, items[number], DType.I64),))

        return elementwise(cx, indices, item)

    return [each(number) for number in range(len(indices))]


def _check_indices(cx: Frame, plan: _Plan) -> None:
    """IndexError for the first number of an index array that is out of range, before anything is read or written."""
    if not cx.options.boundscheck:
        return
    sizes = array_sizes(cx, plan.subject)
    for index, axis, size in zip(plan.indices, plan.axes, sizes, strict=False):
        check_index(cx, index, axis, size)


def check_index(cx: Frame, index: AV, axis: int, size: Value) -> None:
    """One pass that counts what is out of range, which has no branch; the first of it is looked for afterwards."""
    limit = AV(WEAK_INT, (size,))

    def outside(cx: Frame, items: Sequence[AV]) -> AV:
        number, end = convert(cx, items[0], DType.I64), items[1].value
        inside = cx.e("ult", cx.e("wrap_index", number, end), end)
        return AV(Number(DType.I64, False), (cx.e("cast", cx.e("not_", inside), to=DType.I64),))

    count = elementwise(cx, [index, limit], outside, output="sum")

    def fail() -> list[AV]:
        first = call(cx, prelude(cx, "pullback.first_outside"), [_flat(cx, index), limit], {})
        message = f"index {{0}} is out of bounds for axis {axis} with size {{1}}"
        cx.check(cx.e.boolean(False), "IndexError", message, convert(cx, first, DType.I64), size)
        return []

    cx.choose(cx.e("eq", count.value, cx.e.integer(0)), list, fail)


def _writable(av: AV) -> Array:
    return Array(_dtype(av), _rank(av))


def _dtype(av: AV) -> DType:
    assert isinstance(av.type, Array)
    return av.type.dtype


def _rank(av: AV) -> int:
    assert isinstance(av.type, Array)
    return av.type.rank


def _converted(cx: Frame, parts: Sequence[AV]) -> list[AV]:
    """The parts with lists as arrays, without an ellipsis that stands for nothing."""
    return [_as_index(cx, part) for part in parts if part.type != ELLIPSIS]


def _as_index(cx: Frame, part: AV) -> AV:
    """A list of ints or bools as an array; an empty one is of ints."""
    if isinstance(part.type, List) and not part.type.items:
        return _fresh(cx, [cx.e.integer(0)], DType.I64)
    return call(cx, AV(Builtin("numpy.array")), [part], {}) if isinstance(part.type, List) else part


def _without_masks(cx: Frame, subject: AV, parts: Sequence[AV]) -> list[AV]:
    """Masks as the indices of their True elements, an index array for each of their axes."""
    found: list[AV] = []
    axis = 0
    for part in parts:
        if isinstance(part.type, Array) and _is_mask(part):
            _match(cx, subject, part, axis)
            found += true_places(cx, part)
            axis += part.type.rank
        else:
            found.append(part)
            axis += 0 if isinstance(part.type, NoneType) else 1
    return found


def true_places(cx: Frame, mask: AV) -> list[AV]:
    """The indices of the elements that are true, row after row: one array for each axis."""
    out = _fresh(cx, [reduce_sum(cx, mask).value], DType.I64)
    places = call(cx, prelude(cx, "pullback.positions"), [_flat(cx, mask), out], {})
    return unraveled(cx, places, array_sizes(cx, mask))


def unraveled(cx: Frame, places: AV, sizes: Sequence[Value]) -> list[AV]:
    """For places among the elements row after row, the index along each axis."""
    found: list[AV] = []
    for axis in reversed(range(len(sizes))):
        size = AV(WEAK_INT, (sizes[axis],))
        found.insert(0, binary(cx, "%", places, size) if axis else places)
        places = binary(cx, "//", places, size) if axis else places
    return found


def _mask_in_front(subject: AV, parts: Sequence[AV]) -> bool:
    """Does a mask of one axis or of all stand alone, in front."""
    mask = parts[0].type
    alone = isinstance(mask, Array) and _is_mask(parts[0]) and all(_is_full(part) for part in parts[1:])
    return alone and isinstance(mask, Array) and mask.rank in (1, _rank(subject))


def _places(cx: Frame, parts: Sequence[AV]) -> list[int]:
    """Which parts are arrays of ints."""
    places = [i for i, part in enumerate(parts) if isinstance(part.type, Array)]
    for place in places:
        if _dtype(parts[place]).is_float:
            raise cx.error("arrays used as indices must be of int or bool", show(parts[place].type))
    return places


def _is_full(part: AV) -> bool:
    return isinstance(part.type, Slice) and all(isinstance(p, NoneType) for p in part.type.parts)


def _is_mask(index: AV) -> bool:
    assert isinstance(index.type, Array)
    return index.type.dtype is DType.BOOL


def _fresh(cx: Frame, sizes: Sequence[Value], dtype: DType) -> AV:
    return empty(cx, sizes, dtype)


def _count(cx: Frame, array: AV) -> Value:
    total, *others = array_sizes(cx, array) or [cx.e.integer(1)]
    for size in others:
        total = cx.e("mul", total, size)
    return total


def _flat(cx: Frame, array: AV) -> AV:
    """All elements in a row: the array itself, or a copy."""
    assert isinstance(array.type, Array)
    if array.type.rank == 1:
        return array
    whole = array if array.type.contiguous else copy(cx, array, rows=True)
    return array_of(cx.e("view_reshape", whole.value, _count(cx, array)), array.type)


def _match(cx: Frame, subject: AV, mask: AV, first: int = 0) -> None:
    """A mask has the sizes of the axes that it masks, from the first one on."""
    sizes, others = array_sizes(cx, subject)[first:], array_sizes(cx, mask)
    for axis, (m, n) in enumerate(zip(sizes, others, strict=False), first):
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
    out = _fresh(cx, [chosen, *rest], dtype)
    return call(cx, prelude(cx, "pullback.take_mask"), [subject, mask, out], {})


def set_fancy(cx: Frame, subject: AV, parts: Sequence[AV], value: AV) -> None:
    """a[idx] = value, a[mask] = value."""
    parts = _converted(cx, parts)
    if _mask_in_front(subject, parts):
        _set_mask(cx, subject, apart(cx, subject, parts[0]), as_number(cx, value))
        return
    parts = _without_masks(cx, subject, parts)
    parts = [_unwritten(cx, subject, part) if isinstance(part.type, Array) else part for part in parts]
    plan = _plan(cx, subject, parts)
    values = _values(cx, plan, value)
    _check_indices(cx, plan)
    call(cx, prelude(cx, f"pullback.set_{_how(plan)}"), [plan.subject, *_rows(cx, plan), values], {})


def apply_at(cx: Frame, function: AV, subject: AV, parts: Sequence[AV], value: AV | None) -> None:
    """function.at(subject, parts, value): once for each index, repeated ones again; `value` only if it takes two."""
    parts = _without_masks(cx, subject, _converted(cx, parts))
    parts = [_unwritten(cx, subject, part) if isinstance(part.type, Array) else part for part in parts]
    plan = _plan(cx, subject, parts)
    values = [] if value is None else [_values(cx, plan, value, _dtype(value))]
    _check_indices(cx, plan)
    places = pack_tuple([_flat(cx, index) for index in plan.indices])
    name = "pullback.apply_at" if values else "pullback.apply_at_one"
    call(cx, prelude(cx, name), [function, plan.subject, places, *values], {})


def _unwritten(cx: Frame, subject: AV, index: AV) -> AV:
    """An index array, or a copy of it where it shares memory with what is written."""
    return copy(cx, index) if index.value is subject.value else apart(cx, subject, index)


def _values(cx: Frame, plan: _Plan, value: AV, dtype: DType | None = None) -> AV:
    """The value broadcast to the shape of what is assigned to, the axes of the index arrays joined and in front."""
    rest = array_sizes(cx, plan.subject)[len(plan.indices) :]
    values = _fresh(cx, [*array_sizes(cx, plan.indices[0]), *rest], dtype or _dtype(plan.subject))
    fill(cx, _transposed(cx, values, plan.result_order()), value, INDEXED, exact=_is_weak(cx, value))
    if plan.rank == 1:
        return values
    count = _count(cx, plan.indices[0])
    return array_of(cx.e("view_reshape", values.value, count, *rest), _writable(values))


def _is_weak(cx: Frame, value: AV) -> bool:
    """Is a value a Python number: NumPy's are cast here as arrays are."""
    kind = as_number(cx, value).type
    return isinstance(kind, Number) and kind.weak


def _set_mask(cx: Frame, subject: AV, mask: AV, value: AV) -> None:
    assert isinstance(subject.type, Array) and isinstance(mask.type, Array)
    _match(cx, subject, mask)
    if isinstance(value.type, Number):
        _select(cx, subject, mask, value)
        return
    chosen = reduce_sum(cx, mask).value
    whole = mask.type.rank == subject.type.rank
    line = isinstance(value.type, Array) and value.type.rank == 1 and whole
    if line:
        _check_count(cx, value, chosen)
    if line and _dtype(value) is subject.type.dtype:
        values = apart(cx, subject, value)
    else:
        values = _fresh(cx, [chosen, *array_sizes(cx, subject)[mask.type.rank :]], subject.type.dtype)
        fill(cx, values, value, INDEXED)
    if not whole:
        call(cx, prelude(cx, "pullback.set_mask_rows"), [subject, mask, values], {})
        return
    if subject.type.contiguous:  # then the row of all elements is a view
        subject, mask = _flat(cx, subject), _flat(cx, mask)
    call(cx, prelude(cx, "pullback.set_mask"), [subject, mask, values, AV(WEAK_INT, (cx.e.integer(0),))], {})


# ------------------------------------------------------------------------------------------ both parts in one loop


def take_mask_parts(cx: Frame, real: AV, imag: AV, mask: AV) -> tuple[AV, AV] | None:
    """What a mask of all axes picks of both parts of a complex array; None for other indices."""
    if not _masks_all(real, mask):
        return None
    _match(cx, real, mask)
    chosen, flat_mask = reduce_sum(cx, mask).value, _flat(cx, mask)
    outs = [_fresh(cx, [chosen], _dtype(part)) for part in (real, imag)]
    call(cx, prelude(cx, "pullback.take_mask_parts"), [_flat(cx, real), _flat(cx, imag), flat_mask, *outs], {})
    return outs[0], outs[1]


def set_mask_parts(cx: Frame, subject: Sequence[AV], mask: AV, values: Sequence[AV | None]) -> bool:
    """Where a mask of all axes is true both parts take rows of values; False if it is not that what is asked for."""
    if not _masks_all(subject[0], mask):
        return False
    lines: list[AV] = []
    for part, value in zip(subject, values, strict=True):
        assert isinstance(part.type, Array)
        if value is None or not isinstance(value.type, Array) or value.type.rank != 1 or not part.type.contiguous:
            return False
        if value.type.dtype is not part.type.dtype:
            return False
        lines.append(value)
    for part in subject:
        writable(cx, part)
    _match(cx, subject[0], mask)
    _check_count(cx, lines[0], reduce_sum(cx, mask).value)
    lines = [apart(cx, part, apart(cx, other, line)) for part, other, line in
             zip(subject, reversed(subject), lines, strict=True)]  # fmt: skip
    mask = apart(cx, subject[0], mask)
    call(cx, prelude(cx, "pullback.set_mask_parts"),
         [*(_flat(cx, part) for part in subject), _flat(cx, mask), *lines], {})  # fmt: skip
    return True


def _masks_all(subject: AV, mask: AV) -> bool:
    return (isinstance(subject.type, Array) and isinstance(mask.type, Array) and mask.type.dtype is DType.BOOL
            and mask.type.rank == subject.type.rank > 0)  # fmt: skip


def _check_count(cx: Frame, line: AV, chosen: Value) -> None:
    """A row of values has as many as the mask has True, or one."""
    given = array_sizes(cx, line)[0]
    enough = cx.e("or_", cx.e("eq", given, chosen), cx.e("eq", given, cx.e.integer(1)))
    message = ("NumPy boolean array indexing assignment cannot assign {0} input values to the {1} output values "
               "where the mask is true")  # fmt: skip
    cx.check(enough, "ValueError", message, given, chosen)


def _select(cx: Frame, subject: AV, mask: AV, value: AV) -> None:
    """a = where(mask, value, a) in place."""
    assert isinstance(subject.type, Array) and isinstance(mask.type, Array)
    dtype, missing = subject.type.dtype, subject.type.rank - mask.type.rank
    number, literal = element(cx, subject, value, exact=_is_weak(cx, value)), value.literal
    value = AV(Number(dtype, False), (number,), literal if dtype.is_float or isinstance(literal, int) else MISSING)
    for _ in range(missing):
        assert isinstance(mask.type, Array)
        mask = array_of(cx.e("view_expand", mask.value, axis=mask.type.rank), mask.type)

    def rule(cx: Frame, items: Sequence[AV]) -> AV:
        condition, new, old = items
        return AV(Number(dtype, False), (cx.e("select", condition.value, new.value, old.value),))

    elementwise(cx, [mask, value, subject], rule, output="set", target=subject)

