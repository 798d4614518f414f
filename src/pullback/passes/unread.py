"""What one branch yields although it is only read where the other was taken.

    y = if c {yield div (sin x), x} {yield div (mul x, x), 6.0}      y = if c {yield div (sin x), x} {yield 0.0}
    r = if c {f y} {g x}                                       ->    r = if c {f y} {g x}

A backpropagator reads the values of the branch that it belongs to.  Only numbers; checks of the branch stay.
"""

from __future__ import annotations

from pullback.analysis.effects import carried
from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.prims.base import get
from pullback.types import BOOL, Scalar

__all__ = ["run"]

_Known = frozenset[tuple[Value, int]]  # conditions, and on which side of them: 0 where they hold


def run(function: Function, program: Program) -> None:
    """Put zeros in place of what is not read, in all branches of the function."""
    branches = [op for op in function.body.walk() if op.name == "if" and op.results]
    reads: dict[Value, _Known] = {}  # what is known wherever the value is read
    if branches:
        _read(function.body, frozenset(), reads)
    for op in branches:
        for place, (result, *_) in enumerate(carried(op)):
            for side, block in enumerate(op.blocks):
                if (op.operands[0], 1 - side) in reads.get(result, ()) and isinstance(result.type, Scalar):
                    block.results[place] = _nothing(block, result.type, op)


def _read(block: Block, known: _Known, reads: dict[Value, _Known]) -> None:
    for op in block.ops:
        for value in op.operands:
            reads[value] = reads.get(value, known) & known
        for side, inner in enumerate(op.blocks):
            _read(inner, known | {(op.operands[0], side)} if op.name == "if" else known, reads)
    for value in block.results:
        reads[value] = reads.get(value, known) & known


def _nothing(block: Block, type_: Scalar, op: Op) -> Value:
    value = False if type_ == BOOL else 0.0 if type_.dtype.is_float else 0
    zero = Op(get("const"), [], [Value(type_)], {"value": value, "type": type_}, span=op.span)
    block.ops.append(zero)
    return zero.result
