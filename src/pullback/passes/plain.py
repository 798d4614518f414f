"""Makes strong products plain ones in loops of derivatives, where the factor that all trips share allows it.

    for n {any_order}:                       p = and_ (isfinite c), (ne c, 0.0)
      body (k):                              if p:
        x = array_get a, k                     for n {any_order}: .. y = mul x, c ..
        y = zmul x, c                 ->     else:
        array_inc g, k, y                      for n {any_order}: .. y = zmul x, c ..

`zmul` costs two comparisons and a selection, which hurts in vectors where the other work is one product.  With such a
factor the product with 0 is 0 anyway.  Only innermost loops that may become vectors, and small ones.
"""

from __future__ import annotations

from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.ir.walk import clone_ops, count_ops, defined, replace_ops
from pullback.passes.order import ANY_ORDER
from pullback.prims.base import Emitter, get

__all__ = ["run"]

_LARGEST, _MOST_FACTORS = 60, 4


def run(function: Function, program: Program) -> None:
    """Make two versions of the loops that have such products."""
    if any(op.name == "for" and op.attrs.get(ANY_ORDER) for op in function.body.walk()):
        replace_ops(function.body, _loop)


def _loop(op: Op) -> list[Op]:
    products = _products(op) if op.name == "for" and op.attrs.get(ANY_ORDER) else []
    return _versions(op, products) if products else [op]


def _products(loop: Op) -> list[tuple[Op, Value]]:
    """The strong products of an innermost loop with a factor from outside, with this factor."""
    (body,) = loop.blocks
    walked = list(body.walk())
    if any(op.name in ("for", "while") for op in walked) or count_ops(body) > _LARGEST:
        return []
    inside = defined(body, nested=True)
    found = [
        (op, factor) for op in walked if op.name == "zmul"
        if (factor := next((v for v in op.operands if v not in inside), None)) is not None
    ]  # fmt: skip
    return found if len({factor for _, factor in found}) <= _MOST_FACTORS else []


def _versions(loop: Op, products: list[tuple[Op, Value]]) -> list[Op]:
    """The test and an `if` with both versions."""
    e = Emitter(Block(), loop.span)
    good: Value | None = None
    for factor in dict.fromkeys(factor for _, factor in products):
        this = e("and_", e("isfinite", factor), e("ne", factor, e.like(0.0, factor)))
        good = this if good is None else e("and_", good, this)
    assert good is not None
    (copy,) = clone_ops([loop], {})
    results, loop.results = loop.results, [Value(v.type, v.name) for v in loop.results]
    for op, _ in products:
        op.prim = get("mul")
    arms = [Block((), [loop], loop.results), Block((), [copy], copy.results)]
    return [*e.block.ops, Op(get("if"), [good], results, {}, arms, loop.span)]
