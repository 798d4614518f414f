"""Conditions of loops that write memory become part of the body, where their writes are differentiated.

    while a:                                      while true, a:
      cond (a): swap a, i, v; yield (p)             cond (go, a): yield go
      body (a): ...; yield b               ->       body (go, a): swap a, i, v
                                                      n = if p: then: ...; yield b   else: yield a
                                                      yield p, n

A condition that only reads has nothing to differentiate: all that it yields is a bool.
"""

from __future__ import annotations

from pullback.analysis.cells import TABLE_WRITES
from pullback.analysis.effects import ALLOCATIONS, CALLS, VIEWS, elementwise_targets, is_reference
from pullback.ir.node import Block, Function, Op, Value
from pullback.ir.walk import substitute
from pullback.prims import get
from pullback.prims.base import Emitter
from pullback.types import BOOL, Table

__all__ = ["rotate"]

_WRITERS = frozenset({
    "array_inc", "array_swap", "matmul_inc", "slot_inc", "buffer_put", "buffer_inc", "table_rows", *TABLE_WRITES,
})  # fmt: skip


def rotate(function: Function) -> None:
    """Rotate every loop of the function whose condition writes what was there before."""
    _block(function.body)


def _block(block: Block) -> None:
    ops, block.ops = block.ops, []
    for op in ops:
        for inner in op.blocks:
            _block(inner)
        if op.name == "while" and _writes(op.blocks[0]):
            op = _rotated(Emitter(block, op.span), op)
        block.ops.append(op)


def _writes(condition: Block) -> bool:
    own: set[Value] = set()  # memory that is made in here, and views of it
    for op in condition.walk():
        if any(target not in own for target in _targets(op)):
            return True
        if op.name in ALLOCATIONS or (op.name in VIEWS and op.operands[0] in own):
            own.update(op.results)
    return False


def _targets(op: Op) -> list[Value]:
    """What the op may write."""
    if op.name in _WRITERS:
        return op.operands[:1]
    if op.name == "elementwise":
        return elementwise_targets(op)
    return [v for v in op.operands if is_reference(v.type) or isinstance(v.type, Table)] if op.name in CALLS else []


def _rotated(e: Emitter, op: Op) -> Op:
    condition, body = op.blocks
    test = condition.results[0]
    substitute(condition, dict(zip(condition.params, body.params, strict=True)))
    then = Block((), body.ops, body.results)
    following = [Value(v.type, v.name) for v in op.results]
    choice = Op(get("if"), [test], following, {}, [then, Block((), (), body.params)], op.span)
    go = Value(BOOL, "go")
    again = Block([Value(BOOL, "go"), *(Value(v.type, v.name) for v in body.params)])
    again.results = again.params[:1]
    turned = Block([go, *body.params], [*condition.ops, choice], [test, *following])
    operands = [e.boolean(True), *op.operands]
    return Op(op.prim, operands, [Value(BOOL, "go"), *op.results], op.attrs, [again, turned], op.span)
