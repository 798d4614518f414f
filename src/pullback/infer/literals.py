"""Constants written in the source, and others whose value is known while compiling.

    2.0  ->  a float with the literal 2.0, so that what needs a number while compiling (an axis) finds it
"""

from __future__ import annotations

from pullback.infer.complexes import complex_of
from pullback.infer.engine import Frame
from pullback.infer.lattice import ELLIPSIS, WEAK_FLOAT, WEAK_INT
from pullback.infer.values import AV
from pullback.types import F64, I64, NONE, Constant, Str

__all__ = ["literal"]


def literal(cx: Frame, value: object) -> AV:
    """A constant written in the source."""
    if value is None:
        return AV(NONE)
    if isinstance(value, bool):
        return AV(Constant(value), (), value)
    if isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            raise cx.error(f"the integer {value} does not fit 64 bits", "compiled ints have 64 bits")
        return _number(cx, AV(WEAK_INT, (cx.e.constant(value, I64),), value))
    if isinstance(value, float):
        return _number(cx, AV(WEAK_FLOAT, (cx.e.constant(value, F64),), value))
    if isinstance(value, complex):
        return complex_of(literal(cx, value.real), literal(cx, value.imag))
    if isinstance(value, str):
        return AV(Str(value), (), value)
    if value is Ellipsis:
        return AV(ELLIPSIS, (), Ellipsis)
    raise cx.error(f"constants of type {type(value).__name__} are not supported", "int, float, bool, str and None are")


def _number(cx: Frame, av: AV) -> AV:
    cx.literals[av.value] = av.literal
    return av
