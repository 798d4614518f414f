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

__all__ = ["as_number", "compared", "convert", "exactly", "fitted", "is_fixed", "promote", "whole"]

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
    bits = 8 * dtype.bytes - 1
    return not dtype.is_int or (isinstance(literal, int) and -(2**bits) <= literal < 2**bits)


def whole(cx: Frame, x: Value, too_large: str = "the float does not fit a 64-bit int") -> AV:
    """A float's whole part as a Python int; infinities, nan and what leaves 64 bits raise."""
    e = cx.e
    if cx.options.checks:
        cx.check(e("not_", e("isnan", x)), "ValueError", "cannot convert float NaN to integer")
        cx.check(e("isfinite", x), "OverflowError", "cannot convert float infinity to integer")
        inside = e("and_", e("ge", x, e.like(-(2.0**63), x)), e("lt", x, e.like(2.0**63, x)))
        cx.check(inside, "OverflowError", too_large)
    return AV(WEAK_INT, (e("cast", x, to=DType.I64),))


def exactly(cx: Frame, av: AV, dtype: DType) -> Value:
    """A number as an item of an int dtype, converted as Python does it: what does not fit raises."""
    av = as_number(cx, av)
    assert isinstance(av.type, Number)
    if not dtype.is_int or not cx.options.checks:
        return convert(cx, av, dtype)
    if av.type.dtype.is_float:
        av = whole(cx, convert(cx, av, DType.F64), "Python int too large to convert to C long")
    assert isinstance(av.type, Number)
    if dtype is DType.I64 or av.type.dtype is not DType.I64:
        return convert(cx, av, dtype)
    return _narrowed(cx, av)


def _narrowed(cx: Frame, av: AV) -> Value:
    """An int64 as an int32, which it must fit."""
    e, low, high = cx.e, -(2**31), 2**31 - 1
    fits = e("and_", e("ge", av.value, e.integer(low)), e("le", av.value, e.integer(high)))
    if isinstance(av.literal, int) and low <= av.literal <= high:
        return convert(cx, av, DType.I32)
    cx.check(fits, "OverflowError", "Python integer {0} out of bounds for int32", av.value)
    return e("cast", av.value, to=DType.I32)


def fitted(cx: Frame, operands: Sequence[AV]) -> list[AV]:
    """The operands of one operation: Python ints become int32 where the others are, and must fit it (NEP 50)."""
    kinds = {(av.type.dtype, isinstance(av.type, Number) and av.type.weak) for av in operands
             if isinstance(av.type, Array | Number)}  # fmt: skip
    strong = {dtype for dtype, weak in kinds if not weak} - {DType.BOOL}
    if strong != {DType.I32} or (DType.I64, True) not in kinds or (DType.F64, True) in kinds or not cx.options.checks:
        return list(operands)
    return [AV(Number(DType.I32, False), (exactly(cx, av, DType.I32),), av.literal) if av.type == WEAK_INT else av
            for av in operands]  # fmt: skip


def compared(kind: Number, operands: Sequence[AV]) -> Number:
    """The type in which numbers that promote to `kind` are compared: an int32 is compared with any Python int."""
    known = [av.literal for av in operands if av.type == WEAK_INT]
    if kind.dtype is not DType.I32 or all(isinstance(n, int) and -(2**31) <= n < 2**31 for n in known):
        return kind
    return Number(DType.I64, kind.weak)


def is_fixed(av: AV) -> bool:
    """Written as a literal, or an int: takes no share of a derivative at a tie."""
    if isinstance(av.literal, int | float) and av.literal is not MISSING:
        return True
    return isinstance(av.type, Number) and not av.type.dtype.is_float
