"""Will a loop whose trips may run in any order become vectors: asked before LLVM is told that it must.

    for n {any_order}:                     regular                       not regular
      array_inc g, i, k, x                 i from outside, k the trip's
      array_inc g, j, k, y                 another row of the same array
      array_inc h, (add k, one), x         beside the trip's             array_inc h, (mod k, m), x
      array_inc h, k, y                                                  two neighbours of one array

LLVM warns where it could not do as it was told, and users would see that.
"""

from __future__ import annotations

from pullback.ir.node import Block, Op, Value
from pullback.ir.walk import defined, uses
from pullback.types import I64, DType, Scalar

__all__ = ["extremes", "is_regular", "steps_of"]

# Accesses to elements, with the number of operands after the indices.
_ACCESS = {"array_get": 0, "array_inc": 1, "array_swap": 1, "buffer_get": 0, "buffer_put": 1}
_NEVER = frozenset({"while", "for", "call", "check", "elementwise", "mod", "floordiv", "fmod", "remainder", "ipow",
                    "pow_overflows", "gamma", "lgamma", "polygamma"})  # fmt: skip


def is_regular(body: Block) -> bool:
    """Are all elements that a trip of the loop touches fixed ones or neighbours of those of the trip before it."""
    inside, steps = defined(body, nested=True), {body.params[0]}
    places: dict[Value, set[tuple[Value, ...]]] = {}
    changed: set[Value] = set()
    for op in body.walk():
        if op.name in _NEVER:
            return False
        if op.name in ("add", "sub") and op.result.type == I64 and _moves(op, steps, inside):
            steps.add(op.result)
        if op.name in _ACCESS:
            array, *rest = op.operands
            indices = tuple(rest[: len(rest) - _ACCESS[op.name]])
            if array in inside or not all(_fixed(v, inside) for v in indices[:-1]):
                return False
            if indices and indices[-1] not in steps and not _fixed(indices[-1], inside):
                return False
            places.setdefault(array, set()).add(indices[-1:])
            if _ACCESS[op.name]:
                changed.add(array)
        elif op.prim.effects and not op.blocks:
            return False
    return all(len(places[array]) == 1 for array in changed)


def steps_of(body: Block, index: Value | None = None) -> set[Value]:
    """The numbers of a body that grow by one from trip to trip, or as a number from outside does."""
    inside, steps = defined(body, nested=True), {index or body.params[0]}
    if index is not None:
        inside.discard(body.params[0])
    for op in body.ops:
        if op.name in ("add", "sub") and op.result.type == I64 and _moves(op, steps, inside):
            steps.add(op.result)
    return steps


def extremes(body: Block) -> list[DType]:
    """What a regular loop takes the larger or smaller of, if that is all that it carries from trip to trip."""
    found = {op.result: op for op in body.ops if op.name in ("larger", "smaller")}
    dtypes = [v.type.dtype for v in found if isinstance(v.type, Scalar)]
    if not found or DType.F16 in dtypes or not is_regular(body):
        return []
    count = uses(body)
    carried = zip(body.params[1:], body.results, strict=True)
    return dtypes if all(r in found and p in found[r].operands and count[p] == 1 for p, r in carried) else []


def _moves(op: Op, steps: set[Value], inside: set[Value]) -> bool:
    """Is the result the trip's number and something fixed."""
    one, other = op.operands
    return (one in steps and _fixed(other, inside)) or (op.name == "add" and other in steps and _fixed(one, inside))


def _fixed(value: Value, inside: set[Value]) -> bool:
    return value not in inside
