"""What it costs to compute a value again, against storing it.  One stored double is 128.

Sizes of arrays are not known: those of rank 1 are taken for short, and each further axis for four times as much.
"""

from __future__ import annotations

from pullback.ir.node import Op, Value
from pullback.types import ArrayRef, Scalar

__all__ = ["CHEAP", "STORE_REFERENCE", "is_expensive", "recompute_cost", "store_cost"]

CHEAP = 1
STORE_REFERENCE = 16 * 64
_ELEMENTS = 64
_MODERATE = {"div": 8, "sqrt": 8, "floordiv": 24, "mod": 24, "fmod": 24, "array_get": 3, "buffer_get": 3, "unbox": 3,
             "slot_get": 3, "table_get": 3, "ipow": 24}  # fmt: skip
_SIMPLE = frozenset({
    "const", "add", "accumulate", "sub", "mul", "zmul", "neg", "fma", "abs", "sign", "copysign", "maximum", "minimum",
    "python_max", "python_min", "eq", "ne", "lt", "le", "gt", "ge", "and_", "or_", "xor_", "not_", "shl", "shr",
    "select", "cast", "floor", "ceil", "trunc", "rint", "isnan", "isinf", "isfinite", "add_overflows", "sub_overflows",
    "mul_overflows", "pow_overflows", "ult", "wrap_index", "array_size", "view_index", "view_expand", "view_transpose",
    "view_slice", "view_reshape", "view_diagonal", "view_relax", "array_same", "array_overlap", "box_tag",
})  # fmt: skip
_EXPENSIVE = 192


def recompute_cost(op: Op) -> int:
    """Of one op, its operands being there."""
    if op.name in _SIMPLE:
        return CHEAP
    if op.name == "powi":
        return 1 + abs(int(str(op.attrs["n"])))
    if op.name == "elementwise":
        rank = int(str(op.attrs["rank"]))
        each = sum(map(recompute_cost, op.blocks[0].ops)) + 3 * len(op.blocks[0].params)
        return _ELEMENTS * _longer(rank) * each
    return _MODERATE.get(op.name, _EXPENSIVE)


def _longer(rank: int) -> int:
    return 1 << 2 * max(0, rank - 1)


def is_expensive(op: Op) -> bool:
    """Elementary functions and the like: better read from memory than computed again."""
    return recompute_cost(op) >= _EXPENSIVE


def store_cost(value: Value) -> int:
    """Of writing the value in the forward half and reading it in the reverse half."""
    if isinstance(value.type, Scalar):
        return 16 * value.type.dtype.bytes
    if isinstance(value.type, ArrayRef):
        return STORE_REFERENCE * _longer(value.type.rank)
    return STORE_REFERENCE // 2
