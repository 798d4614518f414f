"""With fastmath: strong products become plain ones in a program that selects nothing.

    y = zmul x, c        ->        y = mul x, c

A strong product keeps a cotangent of zero away from a partial that is not finite.  `fastmath` says that no partial is,
on the path taken; only what was computed and not selected may be anything.  So the products stay as they are where a
zero can come from a selection: a `select` of floats, or an `if` of which one branch yields a constant zero.
"""

from __future__ import annotations

from pullback.ir.node import Op, Program, Value
from pullback.prims.base import get
from pullback.types import ArrayRef, is_float

__all__ = ["run"]


def run(program: Program) -> None:
    """Rewrite the products of all functions, or none."""
    ops = [op for function in program.functions.values() for op in function.body.walk()]
    zeros = {op.result for op in ops if op.name == "const" and op.attrs["value"] == 0}
    if not any(_selects(op, zeros) for op in ops):
        for op in ops:
            if op.name == "zmul":
                op.prim = get("mul")


def _selects(op: Op, zeros: set[Value]) -> bool:
    if op.name == "select":
        return _is_number(op.result)
    if op.name == "if":
        return any(v in zeros and _is_number(v) for block in op.blocks for v in block.results)
    return False


def _is_number(value: Value) -> bool:
    """A number with a derivative."""
    return value.type is not None and is_float(value.type) and not isinstance(value.type, ArrayRef)
