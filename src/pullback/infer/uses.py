"""How often, and by what, values of untyped IR are used: iterators are used up by the first that steps through them."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

from pullback.ir.node import Block, Function, Value

__all__ = ["KEEPS", "stored_in", "uses_of"]

KEEPS = (
    "py.for", "py.while", "py.call", "py.call_star", "py.delegate", "py.tuple", "py.check_bound", "py.unpack",
    "py.unpack_star", "py.sequence_star", "if", "py.pushed", "py.entered",
)  # fmt: skip


@lru_cache(maxsize=64)
def stored_in(function: Function) -> frozenset[Value]:
    """Values that something else uses than what steps through an iterator or hands it on."""
    ignored = (*KEEPS, "py.is_context", "py.pushed")
    return frozenset(v for op in function.body.walk() if op.name not in ignored for v in op.operands)


@lru_cache(maxsize=64)
def uses_of(function: Function) -> dict[Value, int]:
    """How often each value may be used along one path; a use in a loop that does not make the value counts twice."""
    found: dict[Value, int] = {}
    _count(function.body, found)
    return found


def _count(block: Block, found: dict[Value, int]) -> Counter[Value]:
    """The uses of values from around; those of the block's own values go to `found`."""
    total = Counter(block.results)
    own = set(block.params)
    for op in block.ops:
        own.update(op.results)
        total.update(op.operands)
        inner = [_count(b, found) for b in op.blocks]
        if op.name == "if":
            total.update(inner[0] | inner[1])
            continue
        for counts in inner:
            total.update(counts if op.name == "py.try" else {value: 2 * n for value, n in counts.items()})
    for value in own:
        found[value] = total.pop(value, 0)
    return total
