"""Loops of J that are calls of their bodies: over what pushes its elements, one by one, into what consumes them.

    for x in gen(n):              def body(x, state):                 captures what the body reads
        total += x         ->         (total,) = state
        if x > 1: break               total += x; return not x > 1, (total,)
                                  go, _, (total,) = py.delegate(gen(n), body, (total,))

So the order of all that happens is the program's own, and the loop may end early.  A loop is made so where inference
finds that a list of all elements would not do (`pushes`); it notes that in the op, as `called`.
"""

from __future__ import annotations

from pullback.infer.engine import Session
from pullback.ir.node import Block, Function, Op, Value
from pullback.ir.walk import clone_block, free_values, substitute
from pullback.prims.base import get

__all__ = ["with_calls"]


def with_calls(session: Session, function: Function) -> Function:
    """The function with calls in the place of such loops."""
    noted = tuple(n for n, op in enumerate(function.body.walk()) if op.attrs.get("called"))
    if not noted:
        return function
    key = ("with calls", function, noted)
    if key not in session.called:
        attrs = {**function.attrs, "root": function.attrs.get("root", function)}
        made = Function(function.name, clone_block(function.body, {}), function.span, attrs)
        pairs = zip(made.body.walk(), function.body.walk(), strict=True)
        session.origins.update((op, session.origins.get(source, source)) for op, source in pairs if op.name == "py.for")
        _block(made.body, made)
        session.called[key] = made
    return session.called[key]


def _block(block: Block, function: Function) -> None:
    ops, block.ops = block.ops, []
    for op in ops:
        if op.name == "py.for" and op.attrs.get("called"):
            block.ops += _called(op, function)
            continue
        for inner in op.blocks:
            _block(inner, function)
        block.ops.append(op)


def _called(op: Op, function: Function) -> list[Op]:
    """The ops that stand for a loop; the loops in its body stay as they are."""
    ops: list[Op] = []

    def emit(name: str, operands: list[Value], **attrs: object) -> Value:
        ops.append(Op(get(f"py.{name}"), operands, [Value()], attrs, (), op.span))
        return ops[-1].result

    (body,) = op.blocks
    own = [inner for inner in body.walk() if inner.name == "py.self"]
    holder = [emit("self", [])] if own else []
    _without(body, own)
    substitute(body, {inner.result: holder[0] for inner in own})
    free = list(free_values(body))
    subject, *start = op.operands
    consumer = emit("closure", free, function=_body(op, free, function))
    whole = emit("delegate", [subject, consumer, emit("tuple", start)])
    state = emit("part", [whole], index=2)
    ops += [Op(get("py.part"), [state], [result], {"index": k}, (), op.span) for k, result in enumerate(op.results)]
    return ops


def _without(block: Block, dropped: list[Op]) -> None:
    block.ops = [op for op in block.ops if op not in dropped]
    for op in block.ops:
        for inner in op.blocks:
            _without(inner, dropped)


def _body(op: Op, free: list[Value], function: Function) -> Function:
    """The body of a loop as a function of an element and the state: whether to go on, and the state after it."""
    (body,) = op.blocks
    element, *carried = body.params
    state, inside = Value(None, "state"), [Value(None, v.name) for v in free]
    substitute(body, dict(zip(free, inside, strict=True)))
    first = [Op(get("py.part"), [state], [value], {"index": k}, (), op.span) for k, value in enumerate(carried)]
    results, last = list(body.results), list[Op]()

    def emit(name: str, operands: list[Value], **attrs: object) -> Value:
        last.append(Op(get(f"py.{name}"), operands, [Value()], attrs, (), op.span))
        return last[-1].result

    go = results.pop(0) if op.attrs.get("breaks") else emit("const", [], value=True)
    result = emit("tuple", [go, emit("tuple", results)])
    attrs: dict[str, object] = {
        "python_name": function.attrs.get("python_name"), "qualified_name": function.attrs.get("qualified_name"),
        "captures": tuple(v.name for v in free), "cells": (), "self_name": None, "generator": False,
        "parameters": (("element", "positional", False), ("state", "positional", False)),
    }  # fmt: skip
    block = Block([*inside, element, state], [*first, *body.ops, *last], [result])
    return Function(function.name, block, op.span, attrs)
