"""What sorts and extremes in any order are made of: no derivative, and both zeros are one number.

    larger(x, y)        the larger, of two zeros either, nan if either is
    order_bits(x)       an unsigned int; of numbers that are no nan, those of the smaller one are smaller
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from pullback.prims.base import Attrs, Elementary, Prim, register
from pullback.prims.scalar import HALF_MAXIMUM, HALF_MINIMUM, NUMBERS, same
from pullback.types import DType, Machine, Scalar

__all__ = ["PRIMS"]

# As LLVM knows it as a reduction, which it does in vectors; without nsz it would order the zeros, at a cost.
_LARGER = "call nsz {T} @llvm.maximum.{t}({T} {0}, {T} {1})"


def _extreme(half: str, code: str, number: str) -> dict[str, str | Elementary]:
    integer = "call {T} @llvm.SIGN.{t}({T} {0}, {T} {1})"
    return {"f16": half, "float": code, "int": integer.replace("SIGN", f"s{number}"),
            "uint": integer.replace("SIGN", f"u{number}")}  # fmt: skip


def _bits_type(operands: Sequence[Machine], attrs: Attrs) -> tuple[Machine, ...]:
    same(NUMBERS, 1)(operands, attrs)
    return (Scalar(DType.U64),)


def _bits(x: Any) -> np.uint64:
    """Of floats below zero all bits turn around, of other signed numbers the sign."""
    least = 1 << (8 * x.dtype.itemsize - 1)
    bits = int.from_bytes((x + type(x)(0)).tobytes(), sys.byteorder)
    if x.dtype.kind == "u":
        return np.uint64(bits)
    return np.uint64(bits ^ (2 * least - 1 if x.dtype.kind == "f" and bits & least else least))


def _bits_code(dtype: DType) -> str:
    bits = 8 * dtype.bytes
    t, least = f"i{bits}", -(1 << (bits - 1))
    if dtype.is_float:
        zero = "0xH0000" if dtype is DType.F16 else "0.0"
        lines = [f"{{z}} = fadd {{T}} {{0}}, {zero}", f"{{b}} = bitcast {{T}} {{z}} to {t}",
                 f"{{s}} = ashr {t} {{b}}, {bits - 1}", f"{{m}} = or {t} {{s}}, {least}",
                 f"xor {t} {{b}}, {{m}}"]  # fmt: skip
    else:
        lines = [f"xor {t} {{0}}, {0 if dtype.is_unsigned else least}"]
    if bits < 64:
        lines = [*lines[:-1], f"{{k}} = {lines[-1]}", f"zext {t} {{k}} to i64"]
    return "\n".join(lines)


PRIMS = tuple(register(p) for p in (
    Prim(name="larger", doc="the larger, of two zeros either; nan if either is", infer=same(NUMBERS, 2),
         impl=lambda x, y: np.maximum(x, y), commutative=True,
         lower=_extreme(HALF_MAXIMUM, _LARGER, "max")),
    Prim(name="smaller", doc="the smaller, of two zeros either; nan if either is", infer=same(NUMBERS, 2),
         impl=lambda x, y: np.minimum(x, y), commutative=True,
         lower=_extreme(HALF_MINIMUM, _LARGER.replace("maximum", "minimum"), "min")),
    Prim(name="order_bits", doc="the bits as an unsigned int that is ordered as the numbers are", infer=_bits_type,
         impl=_bits, lower={dtype.value: _bits_code(dtype) for dtype in NUMBERS}),
))  # fmt: skip
