"""What is known of the sign of a float from the ops that define it, nan aside.

    mul x, x  >= 0        add (mul x, x), 1.0  > 0        abs x  is not -0.0
"""

from __future__ import annotations

import math

from pullback.ir.node import Op, Value
from pullback.passes.walker import Walker
from pullback.types import DType, Scalar

__all__ = ["has_no_negative_zero", "is_finite", "is_finite_cast", "is_nonnegative", "is_positive"]

_NONNEGATIVE = frozenset({"abs", "exp", "exp2", "cosh", "hypot", "sqrt", "acos"})
_NO_NEGATIVE_ZERO = frozenset({"abs", "exp", "exp2", "cosh", "hypot"})
DEPTH = 6


def is_nonnegative(walker: Walker, value: Value, depth: int = DEPTH) -> bool:
    """Is the float nan or >= 0 (-0.0 included)."""
    number = walker.constant_of(value)
    if number is not None:
        return number >= 0
    op = walker.definitions.get(value)
    if op is None or depth == 0:
        return False
    name, operands = op.prim.name, op.operands
    if name in _NONNEGATIVE:
        return True
    if name == "mul" and operands[0] is operands[1]:
        return True
    if name == "powi":
        return int(str(op.attrs["n"])) % 2 == 0
    if name in ("add", "mul", "minimum"):
        return all(is_nonnegative(walker, v, depth - 1) for v in operands)
    if name == "maximum":
        return any(is_nonnegative(walker, v, depth - 1) for v in operands)
    return name == "select" and all(is_nonnegative(walker, v, depth - 1) for v in operands[1:])


def is_positive(walker: Walker, value: Value, depth: int = DEPTH) -> bool:
    """Is the float nan or > 0."""
    number = walker.constant_of(value)
    if number is not None:
        return number > 0
    op = walker.definitions.get(value)
    if op is None or depth == 0:
        return False
    name, operands = op.prim.name, op.operands
    if name == "cosh":
        return True
    if name == "add":
        x, y = operands
        positive = is_positive(walker, x, depth - 1), is_positive(walker, y, depth - 1)
        return all(positive) or any(
            p and is_nonnegative(walker, other, depth - 1) for p, other in zip(positive, (y, x), strict=True)
        )
    if name == "maximum":
        return any(is_positive(walker, v, depth - 1) for v in operands)
    return name == "select" and all(is_positive(walker, v, depth - 1) for v in operands[1:])


def has_no_negative_zero(walker: Walker, value: Value, depth: int = DEPTH) -> bool:
    """Can the float not be -0.0.  A sum is -0.0 only if both terms are."""
    number = walker.constant_of(value)
    if number is not None:
        return number != 0 or math.copysign(1.0, number) > 0
    op = walker.definitions.get(value)
    if op is None or depth == 0:
        return False
    name, operands = op.prim.name, op.operands
    if name in _NO_NEGATIVE_ZERO:
        return True
    if name == "mul":
        return operands[0] is operands[1]
    if name == "powi":
        n = int(str(op.attrs["n"]))
        return n % 2 == 0 and n >= 0
    if name == "cast":
        source = operands[0].type
        return isinstance(source, Scalar) and not source.dtype.is_float
    if name == "add":
        return any(has_no_negative_zero(walker, v, depth - 1) for v in operands)
    if name == "sub":
        return has_no_negative_zero(walker, operands[0], depth - 1)
    return name == "select" and all(has_no_negative_zero(walker, v, depth - 1) for v in operands[1:])


def is_finite_cast(op: Op) -> bool:
    """Is this a conversion of ints none of which is beyond the floats."""
    source, to = op.operands[0].type, op.results[0].type
    if not isinstance(source, Scalar) or source.dtype.is_float or not isinstance(to, Scalar):
        return False
    return to.dtype is not DType.F16 or source.dtype.limits[1] < 2**15


def is_finite(walker: Walker, value: Value, depth: int = DEPTH) -> bool:
    """Is the float neither infinite nor nan."""
    number = walker.constant_of(value)
    if number is not None:
        return math.isfinite(number)
    op = walker.definitions.get(value)
    if op is None or depth == 0:
        return False
    if op.prim.name == "cast":
        return is_finite_cast(op)
    if op.prim.name == "select":
        return all(is_finite(walker, v, depth - 1) for v in op.operands[1:])
    return op.prim.name in ("neg", "abs") and is_finite(walker, op.operands[0], depth - 1)
