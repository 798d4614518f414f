"""Is a check about numbers alone, so that what comes after it may as well be computed before it.

    check (ge x, zero)                  yes: a root of a negative number is a nan, and nobody is harmed
    check (ult i, n); array_get a, i    no: what is read may lie outside
"""

from __future__ import annotations

from collections.abc import Callable

from pullback.ir.node import Op, Value
from pullback.types import BOOL, Scalar

__all__ = ["is_numeric"]

_OVERFLOWS = frozenset({"add_overflows", "sub_overflows", "mul_overflows"})


def is_numeric(condition: Value, maker: Callable[[Value], Op | None]) -> bool:
    """Does a condition ask floating-point numbers alone: no index is right because it holds."""
    waiting, seen = [condition], set[Value]()
    while waiting:
        value = waiting.pop()
        op = maker(value)
        if op is None or op.blocks:
            return False
        if value in seen or op.name in _OVERFLOWS or (op.operands and all(map(_is_float, op.operands))):
            continue
        if op.name != "const" and any(v.type != BOOL for v in op.operands):
            return False
        seen.add(value)
        waiting += op.operands
    return True


def _is_float(value: Value) -> bool:
    return isinstance(value.type, Scalar) and value.type.dtype.is_float
