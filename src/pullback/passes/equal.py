"""What a check has proved equal is one value from there on.

    check(eq m, n); z = array_zeros n          ->          check(eq m, n); z = array_zeros m

Only ints: equal floats may differ in the sign of zero.  The value defined first stays (a constant before all), so that
sizes of arrays that an operation has compared become the same value, which is what fusion looks at.
"""

from __future__ import annotations

from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.ir.walk import substitute
from pullback.types import Scalar

__all__ = ["run"]


def run(function: Function, program: Program) -> None:
    """Use facts of equality within the block of the check, and in the blocks nested after it."""
    if any(op.name == "check" for op in function.body.walk()):
        order: dict[Value, int] = {}
        _number(function.body, order)
        _block(function.body, order, {})


def _number(block: Block, order: dict[Value, int]) -> None:
    for value in block.params:
        order[value] = len(order)
    for op in block.ops:
        for inner in op.blocks:
            _number(inner, order)
        for value in op.results:
            # Constants come first: they are the simplest of equals.
            order[value] = -1 if op.name == "const" else len(order)


def _block(block: Block, order: dict[Value, int], makers: dict[Value, Op]) -> None:
    for position, op in enumerate(block.ops):
        if op.name == "check":
            fact = _fact(op, order, makers)
            if fact is not None:
                rest = Block([], block.ops[position + 1 :], block.results)
                substitute(rest, fact)
                block.results = rest.results
        for inner in op.blocks:
            _block(inner, order, makers)
        for value in op.results:
            makers[value] = op


def _fact(op: Op, order: dict[Value, int], makers: dict[Value, Op]) -> dict[Value, Value] | None:
    made = makers.get(op.operands[0])
    if made is None or made.name != "eq":
        return None
    a, b = made.operands
    if a is b or not isinstance(a.type, Scalar) or not a.type.dtype.is_int:
        return None
    first, second = sorted((a, b), key=lambda v: order[v])
    return {second: first}
