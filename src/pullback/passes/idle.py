"""Loops of derivatives that would add nothing but zeros are not run.

    for n {any_order}:                        if (ne c, 0.0):
      body (k):                                 for n {any_order}: ...
        y = mul (array_get a, k), c     ->
        array_inc g, k, y

What a branch did not choose, the smaller ones beside a maximum and the dead units of a layer have derivative 0: the
loops behind them are often most of the work.  All that the loop adds must be a multiple of one value from outside.
"""

from __future__ import annotations

from pullback.analysis.sums import carried_sums
from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.ir.walk import defined, replace_ops
from pullback.passes.order import ANY_ORDER
from pullback.prims.base import Emitter, get
from pullback.types import Scalar

__all__ = ["run"]

_PRODUCTS = frozenset({"mul", "zmul"})
_SUMS = frozenset({"add", "sub"})


def run(function: Function, program: Program) -> None:
    """Guard the loops of the function."""
    if any(op.name == "for" and op.attrs.get(ANY_ORDER) for op in function.body.walk()):
        replace_ops(function.body, _loop)


def _loop(op: Op) -> list[Op]:
    factor = _factor(op) if op.name == "for" and op.attrs.get(ANY_ORDER) else None
    return [op] if factor is None else _guarded(op, factor)


def _factor(loop: Op) -> Value | None:
    """A value from outside that all that the loop adds is a multiple of."""
    (body,) = loop.blocks
    inside = defined(body, nested=True)
    candidates: dict[Value, None] = {}
    for op in body.walk():
        if op.name in ("for", "while"):
            return None
        if op.name in _PRODUCTS or op.name in ("neg", "array_inc"):
            candidates.update((v, None) for v in op.operands if v not in inside and isinstance(v.type, Scalar))
    added = _added(body)
    for value in candidates:
        if isinstance(value.type, Scalar) and value.type.dtype.is_float and added:
            multiples = _multiples(body, value)
            if all(v in multiples for v in added):
                return value
    return None


def _added(body: Block) -> list[Value]:
    """What a trip adds to arrays and to carried sums."""
    added = [op.operands[-1] for op in body.walk() if op.name == "array_inc"]
    for op in carried_sums(body) or ():
        added += [v for v in op.operands if not _is_running(body, v)]
    return added


def _is_running(body: Block, value: Value) -> bool:
    """Is it a carried value, or one of the sums that lead to its next one."""
    return value in body.params or any(value is op.result for op in carried_sums(body) or ())


def _multiples(body: Block, factor: Value) -> set[Value]:
    """Values that are 0 where the factor is."""
    found = {factor}  # grows along the body
    for op in _inner_first(body):
        if op.name in _PRODUCTS:
            zero = not found.isdisjoint(op.operands)
        elif op.name in ("neg", "cast") or op.name == "div":
            zero = op.operands[0] in found
        elif op.name in _SUMS:
            zero = found.issuperset(op.operands)
        elif op.name == "select":
            zero = found.issuperset(op.operands[1:])
        elif op.name == "if":
            pairs = zip(op.results, *(block.results for block in op.blocks), strict=True)
            found.update(result for result, *arms in pairs if found.issuperset(arms))
            continue
        elif op.name == "const":
            zero = op.attrs["value"] == 0.0
        else:
            continue
        if zero:
            found.update(op.results)
    return found


def _inner_first(body: Block) -> list[Op]:
    ops: list[Op] = []
    for op in body.ops:
        for inner in op.blocks:
            ops += _inner_first(inner)
        ops.append(op)
    return ops


def _guarded(loop: Op, factor: Value) -> list[Op]:
    """The loop where the factor is not 0 (it may be nan); else its carried values stay as they are."""
    e = Emitter(Block(), loop.span)
    some = e("ne", factor, e.like(0.0, factor))
    results, loop.results = loop.results, [Value(v.type, v.name) for v in loop.results]
    arms = [Block((), [loop], loop.results), Block((), [], loop.operands[1:])]
    return [*e.block.ops, Op(get("if"), [some], results, {}, arms, loop.span)]
