"""With fastmath: lets loops that only read and add up become vectors, also where their trips hold checks.

    for n, s:                                     t, bad = for n, s, 0 {any_order}:
      body (k, a):                                  body (k, a, b):
        x = array_get v, k                            x = array_get v, k
        check (ge x, 0.0)                ->           yield (add a, (sqrt x)), (add b, (select (ge x, 0.0), 0, 1))
        yield (add a, (sqrt x))                   r = if (ne bad, 0) {the loop as it was} {t}

Such a loop changes nothing that a second run would see, so that one with a failing check runs again and fails where it
should.  Checks of indices stay in the way: reads rely on them.
"""

from __future__ import annotations

from pullback.analysis.sums import carried_sums
from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.ir.walk import clone_ops, count_ops, defined, replace_ops
from pullback.passes.order import ANY_ORDER
from pullback.prims.base import Emitter, get
from pullback.types import I64

__all__ = ["run"]

_LARGEST = 120  # ops of a loop that is written twice
_READS = frozenset({"array_get", "buffer_get"})


def run(function: Function, program: Program) -> None:
    """Mark and double the loops of the function."""
    replace_ops(function.body, lambda op: _twice(op) if op.name == "for" and _only_adds_up(op) else [op])


def _only_adds_up(loop: Op) -> bool:
    """Is it an innermost loop of sums whose second run would do the same."""
    (body,) = loop.blocks
    if not loop.results or count_ops(body) > _LARGEST or not carried_sums(body):
        return False
    return all(_harmless(op, body) for op in body.walk()) and all(
        op.name != "check" for outer in body.ops for inner in outer.blocks for op in inner.walk()
    )


def _harmless(op: Op, body: Block) -> bool:
    if op.name == "check":
        return op.attrs["exception"] != "IndexError"
    if op.name == "buffer_put":
        return op.operands[1] is body.params[0] and op.operands[0] not in defined(body, nested=True)
    return op.name in _READS or op.name == "if" or not (op.blocks or op.prim.effects)


def _twice(loop: Op) -> list[Op]:
    if not any(op.name == "check" for op in loop.blocks[0].ops):
        loop.attrs[ANY_ORDER] = True
        return [loop]
    (fast,) = clone_ops([loop], {})
    fast.attrs = {**loop.attrs, ANY_ORDER: True}
    (body,) = fast.blocks
    before, after = Emitter(Block(), loop.span), Emitter(Block(), loop.span)
    count = Value(I64, "bad")
    inside = Emitter(Block(), loop.span)
    total: Value = count
    one, zero = before.integer(1), before.integer(0)
    for op in body.ops:
        if op.name == "check":
            total = inside("add", total, inside("select", op.operands[0], zero, one))
        else:
            inside.block.ops.append(op)
    body.ops = inside.block.ops
    body.params, body.results = [*body.params, count], [*body.results, total]
    fast.operands = [*fast.operands, zero]
    fast.results = [*fast.results, Value(I64, "bad")]
    failed = after("ne", fast.results[-1], zero)
    results, loop.results = loop.results, [Value(v.type, v.name) for v in loop.results]
    arms = [Block((), [loop], loop.results), Block((), [], fast.results[:-1])]
    return [*before.block.ops, fast, *after.block.ops, Op(get("if"), [failed], results, {}, arms, loop.span)]
