"""Reductions with axis and keepdims, and joining of arrays: what is handed to the prelude, with the dtypes it needs.

    np.sum(a)            one elementwise pass with output "sum"
    np.sum(a, axis=1)    elementwise "inc" into zeros of shape (n, 1), then the axis is dropped
    np.prod(a, axis=0)   the prelude's loop over a with that axis last
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pullback.infer.arithmetic import binary
from pullback.infer.array_extrema import extrema_along, extremum_of_floats
from pullback.infer.calls import call
from pullback.infer.creation import arguments_of, dtype_of, empty
from pullback.infer.dispatch import dispatch
from pullback.infer.elementwise import TOO_BIG, array_sizes, elementwise, ordered_as, reduce_sum
from pullback.infer.engine import Frame
from pullback.infer.extrema import extremum_of_array
from pullback.infer.lattice import WEAK_INT
from pullback.infer.lists import element as list_element
from pullback.infer.lists import first_item, is_sequence, length
from pullback.infer.numbers import as_number, convert, promote
from pullback.infer.registry import HANDLERS, Handler, prelude
from pullback.infer.shapes import axis_of, reshaped
from pullback.infer.truth import truth
from pullback.infer.values import AV, items_of
from pullback.infer.views import array_of
from pullback.ir.node import Block, Value
from pullback.prims.base import get
from pullback.types import Array, Builtin, Constant, DType, List, NoneType, Number, Scalar, Tuple, show

__all__: list[str] = []

_NAMES = ("a", "axis", "dtype", "out", "keepdims", "ddof")


def _reduction(name: str, kind: str) -> Handler:
    def handler(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        known = ("a", "axis", "keepdims", "ddof") if kind not in ("sum", "mean", "prod") else _NAMES
        found = arguments_of(cx, name, known, given, keywords)
        return dispatch(cx, [found["a"]], lambda cx, operands: _reduce(cx, kind, operands[0], found))

    return handler


def _reduce(cx: Frame, kind: str, value: AV, found: Mapping[str, AV]) -> AV:
    if isinstance(value.type, Tuple | List) or is_sequence(value.type):
        value = call(cx, AV(Builtin("numpy.array")), [value], {})
    number = as_number(cx, value)
    if isinstance(number.type, Number):
        return _of_number(cx, kind, number)
    if not isinstance(value.type, Array):
        raise cx.error(f"np.{kind} of {show(value.type)} is not supported", "arrays are reduced")
    axes = _axes(cx, found.get("axis"), value.type.rank)
    keep = "keepdims" in found and _flag(cx, found["keepdims"], "keepdims")
    value = _prepared(cx, kind, value, found)
    if len(axes) == value.type.rank:  # type: ignore[union-attr]
        result = _whole(cx, kind, value, found)
        return _kept(cx, result, value) if keep else result
    if len(axes) > 1 and kind in ("argmax", "argmin"):
        raise cx.error(f"np.{kind} takes one axis")
    return ordered_as(_along(cx, kind, value, axes, keep, found), [value])


def _of_number(cx: Frame, kind: str, number: AV) -> AV:
    """The reduction of a single number."""
    assert isinstance(number.type, Number)
    dtype = number.type.dtype
    if kind in ("any", "all"):
        return AV(Number(DType.BOOL, False), as_number(cx, truth(cx, number)).values)
    if kind in ("argmax", "argmin"):
        return AV(Number(DType.I64, False), (cx.e.integer(0),))
    if kind in ("sum", "prod") and not dtype.is_float:
        dtype = DType.I64
    if kind in ("mean", "var", "std") and not dtype.is_float:
        dtype = DType.F64
    value = convert(cx, number, dtype)
    return AV(Number(dtype, False), (cx.e("sub", value, value) if kind in ("var", "std") else value,))


def _flag(cx: Frame, av: AV, name: str) -> bool:
    if not isinstance(av.type, Constant):
        raise cx.error(f"{name} must be written as True or False", show(av.type))
    return av.type.value


def _axes(cx: Frame, axis: AV | None, rank: int) -> tuple[int, ...]:
    if axis is None or isinstance(axis.type, NoneType):
        return tuple(range(rank))
    parts = items_of(axis) if isinstance(axis.type, Tuple | List) else [axis]
    axes = tuple(sorted(axis_of(cx, part, rank) for part in parts))
    if len(set(axes)) != len(axes):
        raise cx.error("duplicate value in 'axis'")
    return axes


def _prepared(cx: Frame, kind: str, value: AV, found: Mapping[str, AV]) -> AV:
    """The elements in the dtype NumPy reduces in."""
    assert isinstance(value.type, Array)
    dtype = value.type.dtype
    wanted = dtype_of(cx, found.get("dtype"), dtype)
    if kind in ("sum", "prod") and wanted in (DType.BOOL, DType.I32):
        wanted = DType.I64
    if kind in ("mean", "var", "std") and not wanted.is_float:
        wanted = DType.F64
    if kind in ("any", "all"):
        wanted = DType.BOOL
    if wanted is dtype:
        return value

    def item(cx: Frame, items: Sequence[AV]) -> AV:
        if wanted is DType.BOOL:
            return AV(Number(DType.BOOL, False), as_number(cx, truth(cx, items[0])).values)
        return AV(Number(wanted, False), (convert(cx, items[0], wanted),))

    return elementwise(cx, [value], item)


def _whole(cx: Frame, kind: str, value: AV, found: Mapping[str, AV]) -> AV:
    assert isinstance(value.type, Array)
    if kind == "sum":
        return reduce_sum(cx, value)
    if kind in ("max", "min") and value.type.dtype.is_float:
        return extremum_of_floats(cx, kind, _flat(cx, value))
    if kind in ("max", "min") and value.type.dtype is not DType.BOOL:
        return extremum_of_array(cx, kind, _flat(cx, value))
    extra = [_ddof(cx, found)] if kind in ("var", "std") else []
    return call(cx, prelude(cx, f"pullback.{kind}_flat"), [_flat(cx, value), *extra], {})


def _ddof(cx: Frame, found: Mapping[str, AV]) -> AV:
    return found.get("ddof", AV(WEAK_INT, (cx.e.integer(0),), 0))


def _flat(cx: Frame, value: AV) -> AV:
    assert isinstance(value.type, Array)
    if value.type.rank == 1:
        return value
    return reshaped(cx, value, [AV(WEAK_INT, (cx.e.integer(-1),), -1)], reading=True)


def _kept(cx: Frame, result: AV, value: AV) -> AV:
    """A scalar as an array whose axes all have size 1."""
    assert isinstance(value.type, Array) and isinstance(result.type, Number)
    ones = [cx.e.integer(1)] * value.type.rank
    fresh = empty(cx, ones, result.type.dtype)
    cx.e("array_swap", fresh.value, *[cx.e.integer(0)] * value.type.rank, result.value)
    return fresh


def _along(cx: Frame, kind: str, value: AV, axes: Sequence[int], keep: bool, found: Mapping[str, AV]) -> AV:
    if kind == "sum":
        result = _sum_along(cx, value, axes)
    elif kind == "mean":
        result = _divided(cx, _sum_along(cx, value, axes), value, axes)
    elif kind in ("max", "min") and value.type.dtype.is_float:  # type: ignore[union-attr]
        result = extrema_along(cx, kind, value, axes, lambda part: _sum_along(cx, part, axes))
    else:
        result = _by_rows(cx, kind, value, axes, found)
    return result if keep else _dropped(cx, result, axes)


def _sum_along(cx: Frame, value: AV, axes: Sequence[int]) -> AV:
    """Zeros with the summed axes of size 1, to which every element is added."""
    assert isinstance(value.type, Array)
    sizes = array_sizes(cx, value)
    kept = [cx.e.integer(1) if i in axes else size for i, size in enumerate(sizes)]
    target = empty(cx, kept, value.type.dtype, "array_zeros")
    param = Value(Scalar(value.type.dtype))
    attrs: dict[str, object] = {"rank": len(sizes), "outputs": ("inc",), "targets": 1}
    block = Block([param], [], [param])
    cx.e.append(get("elementwise"), [*sizes, value.value, target.value], attrs=attrs, blocks=[block], types=())
    return target


def _divided(cx: Frame, total: AV, value: AV, axes: Sequence[int]) -> AV:
    count = cx.e.integer(1)
    for axis in axes:
        count = cx.e("mul", count, cx.e("array_size", value.value, axis=axis))
    assert isinstance(total.type, Array)
    divisor = AV(Number(total.type.dtype, False), (convert(cx, AV(WEAK_INT, (count,)), total.type.dtype),))
    return binary(cx, "/", total, divisor)


def _by_rows(cx: Frame, kind: str, value: AV, axes: Sequence[int], found: Mapping[str, AV]) -> AV:
    """The reduced axes moved last and joined to one; a loop of the prelude reduces each row."""
    assert isinstance(value.type, Array)
    rank = value.type.rank
    others = [axis for axis in range(rank) if axis not in axes]
    perm = (*others, *axes)
    moved = array_of(cx.e("view_transpose", value.value, perm=perm), value.type, perm=perm)
    sizes = array_sizes(cx, value)
    outer, inner = cx.e.integer(1), cx.e.integer(1)
    for axis in others:
        outer = cx.e("mul", outer, sizes[axis])
    for axis in axes:
        inner = cx.e("mul", inner, sizes[axis])
    table = reshaped(cx, moved, [AV(WEAK_INT, (outer,)), AV(WEAK_INT, (inner,))], reading=True)
    dtype = {"argmax": DType.I64, "argmin": DType.I64, "any": DType.BOOL, "all": DType.BOOL}.get(kind, value.type.dtype)
    out = empty(cx, [outer], dtype)
    extra = [_ddof(cx, found)] if kind in ("var", "std") else []
    filled = call(cx, prelude(cx, f"pullback.{kind}_rows"), [table, out, *extra], {})
    kept = [AV(WEAK_INT, (cx.e.integer(1),), 1) if i in axes else AV(WEAK_INT, (sizes[i],)) for i in range(rank)]
    return reshaped(cx, filled, kept)


def _dropped(cx: Frame, result: AV, axes: Sequence[int]) -> AV:
    assert isinstance(result.type, Array)
    value = result.value
    for axis in reversed(axes):
        value = cx.e("view_index", value, cx.e.integer(0), axis=axis)
    return array_of(value, result.type)


# --------------------------------------------------------------------------------------------------- joining


def _joined(name: str) -> Handler:
    """np.concatenate, np.stack and kin of a tuple or list of arrays."""

    def handler(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        found = arguments_of(cx, f"numpy.{name}", ("arrays", "axis"), given, keywords)
        if is_sequence(found["arrays"].type):
            return _joined_list(cx, name, found["arrays"], found.get("axis"))
        arrays = [_member(cx, name, av) for av in _members(cx, name, found["arrays"])]
        ranks = {av.type.rank for av in arrays if isinstance(av.type, Array)}
        if len(ranks) != 1:
            raise cx.error(f"np.{name}: all the arrays must have the same number of dimensions",
                           ", ".join(show(av.type) for av in arrays))  # fmt: skip
        (rank,) = ranks
        axis = axis_of(cx, found["axis"], rank + (name == "stack")) if "axis" in found else 0
        if name == "stack":
            arrays = [_expanded(cx, av, axis) for av in arrays]
        return _concatenated(cx, name, arrays, axis)

    return handler


def _joined_list(cx: Frame, name: str, arrays: AV, axis: AV | None) -> AV:
    """The arrays of a list of run-time length, along the first axis."""
    if axis is not None and cx.literal_of(axis) != 0:
        help = "transpose the arrays, or the result"
        raise cx.error(f"np.{name} of a list of run-time length takes axis 0", "", help)
    if name == "stack":
        return call(cx, AV(Builtin("numpy.array")), [arrays], {})
    start = first_item(cx, arrays)
    cx.check(cx.e("gt", length(cx, arrays), cx.e.integer(0)), "ValueError", "need at least one array to concatenate")
    first = list_element(cx, start, cx.e.integer(0))
    if cx.dead:
        return first
    if not isinstance(first.type, Array) or first.type.rank == 0:
        raise cx.error(f"np.{name} takes arrays, not {show(first.type)}", "the list holds no arrays")
    total = call(cx, prelude(cx, "pullback.total_length"), [arrays], {})
    fresh = empty(cx, [total.value, *array_sizes(cx, first)[1:]], first.type.dtype)
    return call(cx, prelude(cx, "pullback.fill_parts"), [fresh, arrays], {})


def _members(cx: Frame, name: str, av: AV) -> list[AV]:
    if not isinstance(av.type, Tuple | List) or not av.type.items:
        raise cx.error(f"np.{name} takes a tuple or list of arrays", show(av.type), "write the arrays in a tuple")
    return items_of(av)


def _member(cx: Frame, name: str, av: AV) -> AV:
    if isinstance(av.type, Tuple | List):
        return call(cx, AV(Builtin("numpy.array")), [av], {})
    number = as_number(cx, av)
    if isinstance(number.type, Number) and name == "stack":
        fresh = empty(cx, [], number.type.dtype)
        cx.e("array_swap", fresh.value, number.value)
        return fresh
    if not isinstance(av.type, Array):
        raise cx.error(f"np.{name} takes arrays, not {show(av.type)}")
    return av


def _expanded(cx: Frame, av: AV, axis: int) -> AV:
    assert isinstance(av.type, Array)
    return array_of(cx.e("view_expand", av.value, axis=axis), av.type)


def _unlike(name: str, axis: int, number: int) -> str:
    """NumPy's message where array `number` differs from the first one along an axis."""
    if name == "stack":
        return "all input arrays must have the same shape"
    return ("all the input array dimensions except for the concatenation axis must match exactly, but along dimension "
            f"{axis}, the array at index 0 has size {{0}} and the array at index {number} has size {{1}}")  # fmt: skip


def _concatenated(cx: Frame, name: str, arrays: Sequence[AV], axis: int) -> AV:
    kind: Number | None = None
    for av in arrays:
        assert isinstance(av.type, Array)
        own = Number(av.type.dtype, False)
        kind = own if kind is None or kind == own else promote(kind, own)
    assert kind is not None
    sizes = array_sizes(cx, arrays[0])
    total = sizes[axis]
    for number, av in enumerate(arrays[1:], 1):
        other = array_sizes(cx, av)
        for i, (m, n) in enumerate(zip(sizes, other, strict=True)):
            if i != axis:
                cx.check(cx.e("eq", m, n), "ValueError", _unlike(name, i, number), m, n, shapes=True)
        cx.check(cx.e("not_", cx.e("add_overflows", total, other[axis])), "ValueError", TOO_BIG)
        total = cx.e("add", total, other[axis])
    out = empty(cx, [total if i == axis else size for i, size in enumerate(sizes)], kind.dtype)
    _copy_parts(cx, out, arrays, axis, kind.dtype)
    return ordered_as(out, arrays)


def _copy_parts(cx: Frame, out: AV, arrays: Sequence[AV], axis: int, dtype: DType) -> None:
    position = cx.e.integer(0)
    assert isinstance(out.type, Array)
    for av in arrays:
        size = cx.e("array_size", av.value, axis=axis)
        part = cx.e("view_slice", out.value, position, size, cx.e.integer(1), axis=axis, unit=True)

        def item(cx: Frame, items: Sequence[AV]) -> AV:
            return AV(Number(dtype, False), (convert(cx, items[0], dtype),))

        elementwise(cx, [av], item, output="set", target=array_of(part, out.type))
        position = cx.e("add", position, size)


_KINDS = ("sum", "mean", "prod", "max", "min", "argmax", "argmin", "any", "all", "var", "std")
HANDLERS.update({f"numpy.{kind}": _reduction(f"numpy.{kind}", kind) for kind in _KINDS})
HANDLERS.update({"numpy.amax": _reduction("numpy.amax", "max"), "numpy.amin": _reduction("numpy.amin", "min")})
HANDLERS.update({"numpy.concatenate": _joined("concatenate"), "numpy.stack": _joined("stack")})
