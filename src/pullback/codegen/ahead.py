"""Loops that carry something, with vectors for what their trips compute without it.

    for k in range(n): s += f(k)     becomes     for blocks of trips:
                                                     for k in block: kept[k] = f(k), as vectors
                                                     if a check of f fails: leave for the loop below
                                                     for k in block: s += kept[k]
                                                 for the trips left: s += f(k)

Every trip computes what it did, and sums are added up in the user's order: the same bits.  A block whose checks do not
all hold is done by the loop as it was written, which raises where it should.
"""

from __future__ import annotations

from collections.abc import Sequence

from pullback.analysis.ahead import Ahead, Terms, look_ahead
from pullback.codegen import abi
from pullback.codegen.costs import STRIP
from pullback.codegen.loops import NOT_VECTOR, Step, repeat, strips
from pullback.codegen.scalars import dtype_of
from pullback.codegen.writer import ELEMENT, UNLIKELY, FunctionWriter
from pullback.ir.node import Block, Op

__all__ = ["BLOCK", "counted", "plan"]

BLOCK = 32  # trips: four vectors of doubles


def plan(w: FunctionWriter, body: Block) -> Ahead | None:
    """What of a loop can be computed ahead, where that pays."""
    terms = Terms(w.costs.op, _is_vector, lambda a, b: w.apart(w.only(a), w.only(b)))
    return look_ahead(body, terms)


def _is_vector(op: Op) -> bool:
    return op.name not in NOT_VECTOR


def counted(
    w: FunctionWriter, n: str, types: Sequence[str], carried: Sequence[str], step: Step, cost: int, body: Block,
    parts: Ahead,
) -> list[str]:  # fmt: skip
    """Run the body for 0 <= k < n; `step` runs one trip as it was written, with the work `cost`."""
    w.wide = True

    def strip(start: str, end: str, inner: list[str]) -> list[str]:
        return _blocks(w, body, parts, start, end, types, inner, step)

    return strips(w, n, types, carried, strip, max(1, STRIP // cost), cost)


def _blocks(
    w: FunctionWriter, body: Block, parts: Ahead, start: str, end: str, types: Sequence[str], carried: Sequence[str],
    step: Step,
) -> list[str]:  # fmt: skip
    """Run the body for start <= k < end."""
    before, head, inside, then, rest, last, done = w.block, *(w.label() for _ in range(6))
    w.jump(head)
    w.begin(head)
    phis = w.open_phis(["i64", *types], before, [start, *carried])
    at, *inner = phis.names
    w.branch(w.set(f"icmp ult i64 {w.set(f'sub nuw nsw i64 {end}, {at}')}, {BLOCK}"), rest, inside)
    w.begin(inside)
    bad = _ahead(w, body, parts, at)
    if bad:
        w.branch(bad, rest, then, UNLIKELY)
    else:
        w.jump(then)
    w.begin(then)
    following = _then(w, body, parts, at, types, inner)
    phis.close(w.block, [w.set(f"add nuw nsw i64 {at}, {BLOCK}"), *following])
    w.jump(head)
    w.begin(rest)
    w.branch(w.set(f"icmp eq i64 {at}, {end}"), done, last)
    w.begin(last)
    final = repeat(w, at, end, types, inner, step)
    latch = w.block
    w.jump(done)
    w.begin(done)
    return w.phis(types, (rest, inner), (latch, final))


def _ahead(w: FunctionWriter, body: Block, parts: Ahead, at: str) -> str:
    """Compute and store what is kept of the trips from `at` on; whether a condition fails, if there are any."""

    def step(index: str, carried: list[str]) -> list[str]:
        w.bind(body.params[:1], [w.set(f"add nuw nsw i64 {at}, {index}")])
        w.run(Block((), parts.ops))
        for number, value in enumerate(parts.kept):
            w.store(dtype_of(value), w.only(value), _place(w, parts, number, index), ELEMENT)
        for condition in parts.conditions:
            wrong = w.set(f"xor i1 {w.only(condition)}, true")
            carried = [w.set(f"or i1 {carried[0]}, {wrong}")]
        return carried

    kind = ["i1"] if parts.conditions else []
    found = repeat(w, "0", str(BLOCK), kind, ["false"] * len(kind), step, w.module.vector_loop(masked=False))
    return found[0] if found else ""


def _then(
    w: FunctionWriter, body: Block, parts: Ahead, at: str, types: Sequence[str], carried: Sequence[str]
) -> list[str]:
    """Carry on, trip by trip, with what was kept."""

    def step(index: str, inner: list[str]) -> list[str]:
        w.bind(body.params, [w.set(f"add nuw nsw i64 {at}, {index}"), *inner])
        for number, value in enumerate(parts.kept):
            w.bind([value], [w.load(dtype_of(value), _place(w, parts, number, index), ELEMENT)])
        w.run(Block((), parts.then))
        return w.flat(body.results)

    return repeat(w, "0", str(BLOCK), types, carried, step, w.module.scalar_loop())


def _place(w: FunctionWriter, parts: Ahead, number: int, index: str) -> str:
    dtype = dtype_of(parts.kept[number])
    return w.set(f"getelementptr inbounds {abi.MEMORY[dtype]}, ptr {w.buffer(number, 8 * BLOCK)}, i64 {index}")
