"""Numbers: promotion (NEP 50), conversion between dtypes, and which operands are fixed at a kink.

    np.int32(3) + 5        5 as an int32                       np.int32(3) + 2**40    OverflowError, as in NumPy
    a[0] = 2.7  (ints)     2; nan, infinities and what does not fit raise, as int(x) does
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pullback.infer.engine import Frame
from pullback.infer.lattice import WEAK_FLOAT, WEAK_INT
from pullback.infer.values import AV, MISSING
from pullback.ir.node import Value
from pullback.prims.scalar import NUMPY_DTYPES
from pullback.types import Array, Constant, DType, Number, Scalar

__all__ = [
    "as_number", "compare_numbers", "convert", "exactly", "fitted", "float_of", "is_fixed", "is_same_kind", "promote",
    "python_int", "whole",
]  # fmt: skip

_FROM_NUMPY = {np.dtype(kind): dtype for dtype, kind in NUMPY_DTYPES.items()}


def promote(a: Number, b: Number) -> Number:
    """The type of an arithmetic result."""
    if a.weak and b.weak:
        return WEAK_FLOAT if DType.F64 in (a.dtype, b.dtype) else WEAK_INT
    if a.weak or b.weak:
        weak, strong = (a, b) if a.weak else (b, a)
        return Number(_weak_with_strong(weak.dtype, strong.dtype), weak=False)
    found = np.result_type(NUMPY_DTYPES[a.dtype], NUMPY_DTYPES[b.dtype])
    return Number(_FROM_NUMPY[found], weak=False)


def is_same_kind(source: DType, target: DType) -> bool:
    """NumPy's casting rule "same_kind"."""
    return bool(np.can_cast(NUMPY_DTYPES[source], NUMPY_DTYPES[target], "same_kind"))


def float_of(kind: Number) -> Number:
    """The type in which functions of floats compute what numbers of a type are given: the shortest that holds them."""
    if kind.dtype.is_float:
        return kind
    if kind.weak:
        return WEAK_FLOAT
    return Number({1: DType.F16, 2: DType.F32}.get(kind.dtype.bytes, DType.F64), weak=False)


def _weak_with_strong(weak: DType, strong: DType) -> DType:
    if weak is DType.F64:
        return strong if strong.is_float else DType.F64
    if weak is DType.I64:
        return DType.I64 if strong is DType.BOOL else strong
    return strong


def as_number(cx: Frame, av: AV) -> AV:
    """A constant bool, or what a 0-d array holds, as a number; everything else as it is."""
    if isinstance(av.type, Constant):
        return AV(Number(DType.BOOL), (cx.e.boolean(av.type.value),), av.literal)
    if isinstance(av.type, Array) and av.type.rank == 0:
        return AV(Number(av.type.dtype, False), (cx.e("array_get", av.value),))
    return av


def convert(cx: Frame, av: AV, dtype: DType) -> Value:
    """The machine value of a number in another dtype."""
    av = as_number(cx, av)
    assert isinstance(av.type, Number)
    if av.type.dtype is dtype:
        return av.value
    if isinstance(av.literal, int | float) and _writable(av.literal, dtype):
        return cx.e.constant(av.literal, Scalar(dtype))
    return cx.e("cast", av.value, to=dtype)


def _writable(literal: float, dtype: DType) -> bool:
    """Can the number be written as a constant of the dtype: floats become ints by a cast alone."""
    low, high = dtype.limits
    return not dtype.is_int or (isinstance(literal, int) and low <= literal <= high)


def whole(cx: Frame, x: Value, too_large: str = "the float does not fit a 64-bit int") -> AV:
    """A float's whole part as a Python int; infinities, nan and what leaves 64 bits raise."""
    e = cx.e
    if cx.options.checks:
        cx.check(e("not_", e("isnan", x)), "ValueError", "cannot convert float NaN to integer")
        cx.check(e("isfinite", x), "OverflowError", "cannot convert float infinity to integer")
        inside = e("and_", e("ge", x, e.like(-(2.0**63), x)), e("lt", x, e.like(2.0**63, x)))
        cx.check(inside, "OverflowError", too_large)
    return AV(WEAK_INT, (e("cast", x, to=DType.I64),))


def python_int(cx: Frame, av: AV) -> Value:
    """An int or bool as Python's int; a uint64 beyond 63 bits raises, which has no int here."""
    value = convert(cx, av, DType.I64)
    if isinstance(av.type, Number) and av.type.dtype is DType.U64 and cx.options.checks:
        fits = cx.e("ge", value, cx.e.like(0, value))
        cx.check(fits, "OverflowError", "the uint64 {0} does not fit a 64-bit int", av.value)
    return value


def exactly(cx: Frame, av: AV, dtype: DType) -> Value:
    """A number as an item of an int dtype, converted as Python does it: what does not fit raises."""
    av = as_number(cx, av)
    assert isinstance(av.type, Number)
    if not dtype.is_int or not cx.options.checks:
        return convert(cx, av, dtype)
    if av.type.dtype.is_float:
        av = whole(cx, convert(cx, av, DType.F64), "Python int too large to convert to C long")
    assert isinstance(av.type, Number)
    if dtype is DType.I64 or not av.type.dtype.is_int or (not av.type.weak and av.type.dtype is not DType.I64):
        return convert(cx, av, dtype)
    return _narrowed(cx, av, dtype)


def _narrowed(cx: Frame, av: AV, dtype: DType) -> Value:
    """An int64 as another int, which it must fit."""
    e, (low, high) = cx.e, dtype.limits
    if isinstance(av.literal, int) and low <= av.literal <= high:
        return convert(cx, av, dtype)
    fits = e("ge", av.value, e.integer(low))
    if high < 2**63:
        fits = e("and_", fits, e("le", av.value, e.integer(high)))
    cx.check(fits, "OverflowError", f"Python integer {{0}} out of bounds for {dtype.title}", av.value)
    return e("cast", av.value, to=dtype)


def fitted(cx: Frame, operands: Sequence[AV]) -> list[AV]:
    """The operands of one operation: Python ints become what the other ints promote to, and must fit it (NEP 50)."""
    kinds = [Number(av.type.dtype, isinstance(av.type, Number) and av.type.weak) for av in operands
             if isinstance(av.type, Array | Number)]  # fmt: skip
    strong = [kind for kind in kinds if not kind.weak and kind.dtype is not DType.BOOL]
    if WEAK_INT not in kinds or WEAK_FLOAT in kinds or not strong or not cx.options.checks:
        return list(operands)
    kind = strong[0]
    for other in strong[1:]:
        kind = promote(kind, other)
    if not kind.dtype.is_int or kind.dtype is DType.I64:
        return list(operands)
    return [AV(kind, (exactly(cx, av, kind.dtype),), av.literal) if av.type == WEAK_INT else av for av in operands]


def compare_numbers(cx: Frame, name: str, a: AV, b: AV) -> Value:
    """A comparison op on two numbers: ints as the whole numbers they are, others in their common dtype."""
    assert isinstance(a.type, Number) and isinstance(b.type, Number)
    kinds = (a.type.dtype, b.type.dtype)
    if DType.U64 in kinds and any(kind.is_int and not kind.is_unsigned for kind in kinds):
        return _of_unlike_signs(cx, name, a, b)
    kind = a.type if a.type == b.type else _comparable(promote(a.type, b.type), (a, b))
    return cx.e(name, convert(cx, a, kind.dtype), convert(cx, b, kind.dtype))


def _comparable(kind: Number, operands: Sequence[AV]) -> Number:
    """The type in which numbers that promote to `kind` are compared: an int is compared with any Python int."""
    known = [av.literal for av in operands if av.type == WEAK_INT]
    low, high = kind.dtype.limits if kind.dtype.is_int else (0, 0)
    if not kind.dtype.is_int or all(isinstance(n, int) and low <= n <= high for n in known):
        return kind
    return Number(DType.I64, kind.weak)


_SWAPPED = {"eq": "eq", "ne": "ne", "lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}


def _of_unlike_signs(cx: Frame, name: str, a: AV, b: AV) -> Value:
    """A uint64 and an int: a negative one is less than all."""
    assert isinstance(a.type, Number)
    if a.type.dtype is not DType.U64:
        return _of_unlike_signs(cx, _SWAPPED[name], b, a)
    e, other = cx.e, convert(cx, b, DType.I64)
    found = e(name, convert(cx, a, DType.U64), e("cast", other, to=DType.U64))
    negative = e("lt", other, e.like(0, other))
    return e("select", negative, e.boolean(name in ("ne", "gt", "ge")), found)


def is_fixed(av: AV) -> bool:
    """Written as a literal, or an int: takes no share of a derivative at a tie."""
    if isinstance(av.literal, int | float) and av.literal is not MISSING:
        return True
    return isinstance(av.type, Number) and not av.type.dtype.is_float
