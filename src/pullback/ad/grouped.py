"""Statements that J does not take op by op: what an exception leaves undone is known when they are typed.

    r... = py.try(x...) {body} {handler}           r... = py.statement(x..., all else that the blocks read)

A `finally` begins with a `try` whose result is the exception that is pending, and ends where that goes on: all between
is one statement.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pullback.ad.backpropagator import Back, Step
from pullback.ir.node import Block, Op, Value
from pullback.ir.walk import free_values
from pullback.prims.base import get

__all__ = ["grouped", "statement"]


class Transformer(Protocol):
    """What is asked of J of a function (`closures`)."""

    def op(self, op: Op) -> Step | None: ...
    def with_back(self, op: Op, operation: str, attributes: object, order: int, count: int) -> Step: ...


def grouped(block: Block) -> list[Op]:
    """The ops of a block, with one op in place of each `try` and what belongs to it."""
    if not any(op.name == "py.try" for op in block.ops):
        return block.ops
    found: list[Op] = []
    position = 0
    while position < len(block.ops):
        op = block.ops[position]
        if op.name != "py.try":
            found.append(op)
            position += 1
            continue
        end = _end(block.ops, position)
        found.append(_statement(block, position, end))
        position = end
    return found


def _end(ops: Sequence[Op], start: int) -> int:
    """Behind the last op that raises again what a `try` has pending."""
    pending, end, place = set(ops[start].results), start + 1, start
    while place < end:
        if ops[place].name == "py.try":
            pending.update(ops[place].results)
        for later in range(end, len(ops)):
            inside = [ops[later], *(inner for block in ops[later].blocks for inner in block.walk())]
            if any(op.name == "py.resume" and op.operands[0] in pending for op in inside):
                end = later + 1
        place += 1
    return end


def _statement(block: Block, start: int, end: int) -> Op:
    ops = tuple(block.ops[start:end])
    inside = Block((), ops)
    made = {v for op in ops for v in op.results}
    free = tuple(free_values(inside))
    later = {*free_values(Block((), block.ops[end:])), *block.results}
    outs = tuple(v for op in ops for v in op.results if v in later)
    itself = any(op.name == "py.self" for op in inside.walk())
    assert made.isdisjoint(free)
    attrs: dict[str, object] = {"ops": ops, "free": free, "outs": outs, "itself": itself}
    return Op(get("py.statement"), free, outs, attrs, (), ops[0].span)


def statement(j: Transformer, op: Op) -> Step:
    """Statements that are differentiated as a whole; where they mention the running closure, that is an operand."""
    attributes, count = {"statement": op}, len(op.results)
    if not op.attrs["itself"]:
        return j.with_back(op, op.name, attributes, 1, count)
    own = Op(get("py.self"), (), [Value(None, "self")], {}, (), op.span)
    step_of_self = j.op(own)
    assert step_of_self is not None
    whole = Op(op.prim, [*op.operands, own.result], op.results, op.attrs, (), op.span)
    step_of_whole = j.with_back(whole, op.name, attributes, 1, count)

    def both(back: Back) -> None:
        step_of_whole(back)
        step_of_self(back)

    return both
