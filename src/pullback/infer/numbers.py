"""Numbers: promotion (NEP 50), conversion between dtypes, and which operands are fixed at a kink."""

from __future__ import annotations

import numpy as np

from pullback.infer.engine import Frame
from pullback.infer.lattice import WEAK_FLOAT, WEAK_INT
from pullback.infer.values import AV, MISSING
from pullback.ir.node import Value
from pullback.prims.scalar import NUMPY_DTYPES
from pullback.types import Constant, DType, Number, Scalar

__all__ = ["as_number", "convert", "is_fixed", "promote"]

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
    """A constant bool as a number; numbers as they are."""
    if isinstance(av.type, Constant):
        return AV(Number(DType.BOOL), (cx.e.boolean(av.type.value),), av.literal)
    return av


def convert(cx: Frame, av: AV, dtype: DType) -> Value:
    """The machine value of a number in another dtype."""
    av = as_number(cx, av)
    assert isinstance(av.type, Number)
    if av.type.dtype is dtype:
        return av.value
    if isinstance(av.literal, int | float) and av.literal is not MISSING:
        return cx.e.constant(av.literal, Scalar(dtype))
    return cx.e("cast", av.value, to=dtype)


def is_fixed(av: AV) -> bool:
    """Written as a literal, or an int: takes no share of a derivative at a tie."""
    if isinstance(av.literal, int | float) and av.literal is not MISSING:
        return True
    return isinstance(av.type, Number) and not av.type.dtype.is_float
