"""Takes out what only derivatives look at, once there is none left to take.

    b = stop a                          a
    r = attach b, s, w         ->       b           (s and w are dead, with all that led to them alone)
    c = differentiated b                const false

A program without derivatives is settled from the start: what was written for their sake costs it nothing.
"""

from __future__ import annotations

from pullback.ir.node import Block, Program, Value
from pullback.prims.base import get

__all__ = ["run"]

_MARKS = frozenset({"stop", "attach", "discrete"})


def run(program: Program) -> None:
    """Let every mark be its first operand."""
    for function in program.functions.values():
        mapping: dict[Value, Value] = {}
        _block(function.body, mapping)


def _block(block: Block, mapping: dict[Value, Value]) -> None:
    kept = []
    for op in block.ops:
        op.operands = [mapping.get(v, v) for v in op.operands]
        if op.name in _MARKS:
            mapping[op.result] = op.operands[0]
            continue
        if op.name == "differentiated":
            op.prim, op.operands, op.attrs = get("const"), [], {"value": False}
        for inner in op.blocks:
            _block(inner, mapping)
        kept.append(op)
    block.ops = kept
    block.results = [mapping.get(v, v) for v in block.results]
