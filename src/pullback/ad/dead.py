"""Removes ops of freshly emitted code whose results nobody uses, so that no residual is kept for them.

    p = div one, x          both partials of a division are emitted;
    q = neg ...             q is dead if y is not active
    add cx, ...
"""

from __future__ import annotations

from pullback.ir.node import Block, Op, Value

__all__ = ["remove_dead"]

_LASTING = frozenset({"write", "raise", "call"})


def remove_dead(block: Block) -> set[Value]:
    """Drop dead ops, inner ones first; the values from outside that the block still uses."""
    used = set(block.results)
    kept: list[Op] = []
    for op in reversed(block.ops):
        inner = _clean(op, used)
        if not _lasts(op) and used.isdisjoint(op.results):
            continue
        kept.append(op)
        used.update(op.operands)
        used |= inner
    block.ops = kept[::-1]
    return used


def _clean(op: Op, used: set[Value]) -> set[Value]:
    """Clean the inner blocks; what they use."""
    if op.name == "if":
        places = [i for i, v in enumerate(op.results) if v in used]
        if len(places) < len(op.results):
            op.results = [op.results[i] for i in places]
            for block in op.blocks:
                block.results = [block.results[i] for i in places]
    inner: set[Value] = set()
    for block in op.blocks:
        inner |= remove_dead(block)
    return inner


def _lasts(op: Op) -> bool:
    """Does the op do something besides computing its results."""
    if op.name == "elementwise":
        return bool(op.attrs["targets"])
    if op.blocks:
        return any(_lasts(inner) for block in op.blocks for inner in block.ops)
    return not _LASTING.isdisjoint(op.prim.effects)
