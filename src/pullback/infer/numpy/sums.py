"""Sums along axes, and means and variances, which rest on them.

    np.sum(a)                 one elementwise pass with output "sum"
    np.sum(a, axis=1)         elementwise "inc" into zeros of shape (n, 1), then the axis is dropped
    np.var(a, where=m)        the sum of where(m, (a - mean)**2, 0), divided by how many count
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pullback.infer.creation import empty
from pullback.infer.elementwise import ScalarRule, array_sizes, elementwise
from pullback.infer.engine import Frame
from pullback.infer.numbers import as_number, convert
from pullback.infer.numpy.axes import is_none
from pullback.infer.truth import truth
from pullback.infer.values import AV
from pullback.infer.views import array_of
from pullback.ir.node import Block, Value
from pullback.prims.base import get
from pullback.types import Array, DType, Number, Scalar, show

__all__ = [
    "Reduction", "cast_to", "ddof_of", "dropped", "each", "kept", "masked", "mean_of", "number_of", "std_of", "sum_of",
    "total", "var_of", "with_initial",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Reduction:
    """What is asked for: the kind, the axes, whether they stay with size 1, which elements count, and the arguments."""

    kind: str
    axes: tuple[int, ...]
    keep: bool
    mask: AV | None
    found: Mapping[str, AV]


def cast_to(cx: Frame, value: AV, dtype: DType) -> AV:
    """The elements in a dtype (bools by their truth); the array itself if it has it."""
    assert isinstance(value.type, Array)
    if value.type.dtype is dtype:
        return value

    def item(cx: Frame, items: Sequence[AV]) -> AV:
        if dtype is DType.BOOL:
            return AV(Number(DType.BOOL, False), as_number(cx, truth(cx, items[0])).values)
        return AV(Number(dtype, False), (convert(cx, items[0], dtype),))

    return elementwise(cx, [value], item)


def each(cx: Frame, operands: Sequence[AV], rule: ScalarRule) -> AV:
    """A rule for numbers over arrays, or over numbers if no operand is an array."""
    if any(isinstance(av.type, Array) for av in operands):
        return elementwise(cx, operands, rule)
    return rule(cx, [as_number(cx, av) for av in operands])


def number_of(value: Value) -> AV:
    """A machine value as a NumPy number."""
    assert isinstance(value.type, Scalar)
    return AV(Number(value.type.dtype, False), (value,))


def total(cx: Frame, value: AV, axes: Sequence[int], *, keep: bool) -> AV:
    """The sum along axes, in the array's dtype: a number where none are left."""
    assert isinstance(value.type, Array)
    if len(axes) == value.type.rank:
        found = elementwise(cx, [value], lambda cx, items: items[0], output="sum")
        return kept(cx, found, value) if keep else found
    result = _added(cx, value, axes)
    return result if keep else dropped(cx, result, axes)


def _added(cx: Frame, value: AV, axes: Sequence[int]) -> AV:
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


def kept(cx: Frame, result: AV, value: AV) -> AV:
    """A number as an array whose axes all have size 1."""
    assert isinstance(value.type, Array) and isinstance(result.type, Number)
    ones = [cx.e.integer(1)] * value.type.rank
    fresh = empty(cx, ones, result.type.dtype)
    cx.e("array_swap", fresh.value, *[cx.e.integer(0)] * value.type.rank, result.value)
    return fresh


def dropped(cx: Frame, result: AV, axes: Sequence[int]) -> AV:
    """The array without axes of size 1."""
    assert isinstance(result.type, Array)
    value = result.value
    for axis in reversed(axes):
        value = cx.e("view_index", value, cx.e.integer(0), axis=axis)
    return array_of(value, result.type)


def masked(cx: Frame, value: AV, mask: AV | None, other: float) -> AV:
    """The elements that count, and a number in the place of the rest."""
    if mask is None:
        return value

    def item(cx: Frame, items: Sequence[AV]) -> AV:
        chosen = as_number(cx, truth(cx, items[1])).value
        return number_of(cx.e("select", chosen, items[0].value, cx.e.like(other, items[0].value)))

    return elementwise(cx, [value, mask], item)


def sum_of(cx: Frame, value: AV, asked: Reduction) -> AV:
    """np.sum."""
    found = total(cx, masked(cx, value, asked.mask, 0), asked.axes, keep=asked.keep)
    return with_initial(cx, "add", found, asked)


_OF_BOOLS = {"maximum": "or_", "minimum": "and_"}


def with_initial(cx: Frame, operation: str, result: AV, asked: Reduction) -> AV:
    """The result and the argument `initial`, by the operation of the reduction."""
    if is_none(asked.found, "initial") or cx.dead:
        return result
    start = as_number(cx, asked.found["initial"])
    if not isinstance(start.type, Number):
        raise cx.error(f"initial must be a number, not {show(start.type)}", "it is added to every line")
    fixed = start.literal if isinstance(start.literal, int | float) else None
    attrs = {"literal": (False, fixed is not None)} if operation in ("maximum", "minimum") else {}

    def rule(cx: Frame, items: Sequence[AV]) -> AV:
        x = items[0].value
        assert isinstance(x.type, Scalar)
        if x.type.dtype is DType.BOOL and operation in _OF_BOOLS:
            return number_of(cx.e(_OF_BOOLS[operation], x, convert(cx, items[1], DType.BOOL)))
        return number_of(cx.e(operation, x, convert(cx, items[1], x.type.dtype), **attrs))

    return each(cx, [result, start], rule)


def _count(cx: Frame, value: AV, asked: Reduction, *, keep: bool) -> AV:
    """How many elements of each line count, as float64."""
    if asked.mask is not None:

        def item(cx: Frame, items: Sequence[AV]) -> AV:
            chosen = as_number(cx, truth(cx, items[1])).value
            one = cx.e.constant(1.0, Scalar(DType.F64))
            return number_of(cx.e("select", chosen, one, cx.e.like(0.0, one)))

        return total(cx, elementwise(cx, [value, asked.mask], item), asked.axes, keep=keep)
    count = cx.e.integer(1)
    for axis in asked.axes:
        count = cx.e("mul", count, cx.e("array_size", value.value, axis=axis))
    return number_of(cx.e("cast", count, to=DType.F64))


def _divided(cx: Frame, value: AV, count: AV) -> AV:
    def rule(cx: Frame, items: Sequence[AV]) -> AV:
        x = items[0].value
        assert isinstance(x.type, Scalar)
        return number_of(cx.e("div", x, convert(cx, items[1], x.type.dtype)))

    return each(cx, [value, count], rule)


def mean_of(cx: Frame, value: AV, asked: Reduction) -> AV:
    """np.mean."""
    found = total(cx, masked(cx, value, asked.mask, 0), asked.axes, keep=asked.keep)
    return _divided(cx, found, _count(cx, value, asked, keep=asked.keep))


def ddof_of(cx: Frame, found: Mapping[str, AV]) -> AV:
    """What is taken off the number of elements to divide by."""
    if "ddof" in found and "correction" in found:
        title = "ddof and correction can't be provided simultaneously."
        raise cx.error(title, "they mean the same", raised=("ValueError", title))
    return found.get("ddof", found.get("correction", AV(Number(DType.I64), (cx.e.integer(0),), 0)))


def var_of(cx: Frame, value: AV, asked: Reduction) -> AV:
    """The mean square of what is left when the mean is taken off."""
    if is_none(asked.found, "mean"):
        middle = mean_of(cx, value, Reduction("mean", asked.axes, True, asked.mask, {}))
    else:
        middle = asked.found["mean"]

    def square(cx: Frame, items: Sequence[AV]) -> AV:
        x = items[0].value
        assert isinstance(x.type, Scalar)
        rest = cx.e("sub", x, convert(cx, items[1], x.type.dtype))
        return number_of(cx.e("mul", rest, rest))

    squares = masked(cx, elementwise(cx, [value, middle], square), asked.mask, 0)
    found = total(cx, squares, asked.axes, keep=asked.keep)
    less = as_number(cx, ddof_of(cx, asked.found))

    def degrees(cx: Frame, items: Sequence[AV]) -> AV:
        left = cx.e("sub", items[0].value, convert(cx, items[1], DType.F64))
        return number_of(cx.e("maximum", left, cx.e.like(0.0, left), literal=(False, True)))

    return _divided(cx, found, each(cx, [_count(cx, value, asked, keep=asked.keep), less], degrees))


def std_of(cx: Frame, value: AV, asked: Reduction) -> AV:
    """The root of the variance; its derivative at 0 is 0."""

    def root(cx: Frame, items: Sequence[AV]) -> AV:
        e, v = cx.e, items[0].value
        some = e("ne", v, e.like(0.0, v))
        return number_of(e("select", some, e("sqrt", e("select", some, v, e.like(1.0, v))), e.like(0.0, v)))

    return each(cx, [var_of(cx, value, asked)], root)
