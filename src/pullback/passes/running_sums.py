"""A loop that carries an array and yields a copy of it, with something added, adds to the array itself.

    z = array_zeros n                              z = array_zeros n
    r = for m, z:                                  r = for m, z:
      body (k, c):                         ->        body (k, c):
        t = elementwise{new} n, c { yield c }          array_inc c, k, x
        array_inc t, k, x                              yield c
        yield t

Sums of sensitivities are carried like this, one copy a trip.  Only where the loop is all that uses what it begins with,
and the copy is all that uses what it carries.
"""

from __future__ import annotations

from pullback.analysis.effects import VIEWS
from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.ir.walk import free_values, substitute, uses
from pullback.passes.copies import copied
from pullback.types import ArrayRef

__all__ = ["run"]

_MAKERS = frozenset({"elementwise", "array_zeros", "array_empty", "matmul"})
_ELEMENTS = frozenset({
    "elementwise", "array_size", "array_get", "array_inc", "array_swap", "matmul", "matmul_inc",
})  # fmt: skip


def run(function: Function, program: Program) -> None:
    """Rewrite the loops of the whole function, inner ones first."""
    _block(function.body)


def _block(block: Block) -> None:
    made = {v for op in block.ops if op.name in _MAKERS for v in op.results}
    for op in block.ops:
        if op.name == "elementwise":
            continue
        for inner in op.blocks:
            _block(inner)
        if op.name in ("for", "while"):
            start = op.operands[len(op.operands) - len(op.results) :]
            for place, value in enumerate(start):
                if isinstance(value.type, ArrayRef) and value in made and _used_once(block, value):
                    _carried(op, place)


def _used_once(block: Block, value: Value) -> bool:
    return uses(block).get(value, 0) == 1


def _carried(loop: Op, place: int) -> None:
    """Let the loop add to what it carries there."""
    *tests, body = loop.blocks
    param = body.params[len(body.params) - len(loop.results) + place]
    total = body.results[place]
    if any(test.params[place] in uses(test) for test in tests) or uses(body).get(param, 0) != 1:
        return
    copy = next((op for op in body.ops if op.results and op.results[0] is total), None)
    if copy is None or copied(copy) is not param or body.results.count(total) != 1 or not _stays(body, total):
        return
    body.ops.remove(copy)
    substitute(body, {total: param})


def _stays(body: Block, total: Value) -> bool:
    """Is it, and are its views, only read and written element by element, and seen by nobody else."""
    names = {total}
    for op in body.ops:
        if not names.isdisjoint(v for inner in op.blocks for v in free_values(inner)):
            return False
        if names.isdisjoint(op.operands):
            continue
        if op.name in VIEWS:
            names.update(op.results)
        elif op.name not in _ELEMENTS:
            return False
    return len(names.intersection(body.results)) == 1
