"""Loops of J: a chain of the backpropagators of the trips, and a loop backwards that opens its links.

    while test(c):                      chain = end                     while chain is a link:
        c = body(c)             ->      while test(c):           and        b, chain = opened(chain)
                                            c, b = body(c)                  dc, ... = b(dc)
                                            chain = link(b, chain)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from pullback.ad.backpropagator import Back, Step
from pullback.ir.build import Builder
from pullback.ir.node import Block, Op, Value
from pullback.ir.walk import clone_ops, substitute
from pullback.prims.base import get

__all__ = ["Transformer", "repeated", "stepped"]

LINK, END = "link", "end"  # what a chain is made of
_CALLING = frozenset({"py.call", "py.call_star", "py.with_back"})  # what may do more than compute


class Transformer(Protocol):
    """What is asked of J of a function (`closures`)."""

    values: dict[Value, Value]
    builder: Builder

    def free(self, *blocks: Block) -> list[Value]: ...
    def emit(self, name: str, operands: Sequence[Value] = (), results: int = 1, /, **attrs: object) -> list[Value]: ...
    def op(self, op: Op) -> Step | None: ...
    def mapped(self, values: Iterable[Value]) -> list[Value]: ...
    def bind(self, op: Op, results: Sequence[Value]) -> None: ...
    def filled(self, back: Back, sensitivity: Value, value: Value) -> Value: ...
    def region(
        self, source: Block, params: Sequence[Value], finish: Callable[[Back], list[Value]], *, outputs: int = 0
    ) -> Block: ...


def repeated(j: Transformer, op: Op) -> Step:
    """A while loop: the chain of its trips' backpropagators is carried beside its values."""
    cond, body = op.blocks
    if any(inner.name in _CALLING for inner in cond.walk()):
        return _rotated(j, op)
    free = j.free(body)
    chain = Value(None, "chain")
    end = j.emit("environment", of=END)[0]
    test = Block([Value(None, "chain"), *(Value(None, v.name) for v in cond.params)])
    j.values.update(zip(cond.params, test.params[1:], strict=True))
    test.ops = clone_ops(cond.ops, j.values)
    _only_read(test)
    test.results = j.mapped(cond.results)
    trip = j.region(body, body.params, lambda back: [back.take(v) for v in (*body.params, *free)])
    link = _linked(j, trip, chain, [], 0)
    trip.params.insert(0, chain)
    attrs: dict[str, object] = {"peel": True} if op.attrs.get("peel") else {}
    made = j.builder.append_untyped(get("py.while"), [end, *j.mapped(op.operands)], attrs=attrs,
                                       blocks=[test, trip], results=len(op.results) + 1)  # fmt: skip
    j.bind(op, made.results[1:])
    return lambda back: _backwards(j, back, op, op.operands, made.results[0], link, free)


# What a condition that calls nothing may do with arrays.
_READING = frozenset({"py.subscript", "py.binary", "py.unary", "py.attribute", "py.unpack"})


def _only_read(block: Block) -> None:
    """Nothing in a condition has a sensitivity: its ops have arrays without their shadows."""
    old, block.ops = block.ops, []
    for op in old:
        for inner in op.blocks:
            _only_read(inner)
        if op.name in _READING:
            builder = Builder(block, op.span)
            op.operands = [builder.append_untyped(get("py.bare"), [v]).result for v in op.operands]
        block.ops.append(op)


def _rotated(j: Transformer, op: Op) -> Step:
    """A loop whose condition calls: it is computed before the loop and at the end of each trip, as other code is.

    while cond(c): c = body(c)      ->      go = cond(c); while go: c = body(c); go = cond(c)
    """
    cond, body = op.blocks
    inside: dict[Value, Value] = dict(zip(cond.params, op.operands, strict=True))
    steps = [j.op(inner) for inner in clone_ops(cond.ops, inside)]
    first = inside.get(cond.results[0], cond.results[0])
    again: dict[Value, Value] = dict(zip(cond.params, body.results, strict=True))
    trip = Block([*body.params, Value(None, "go")], body.ops, body.results)
    trip.ops = [*body.ops, *clone_ops(cond.ops, again)]
    trip.results = [*body.results, again.get(cond.results[0], cond.results[0])]
    go = Value(None, "go")
    test = Block([*(Value(None, v.name) for v in body.params), go], (), [go])
    made = Op(op.prim, [*op.operands, first], [*op.results, Value(None, "go")], op.attrs, [test, trip], op.span)
    steps.append(j.op(made))

    def step(back: Back) -> None:
        for one in reversed(steps):
            if one is not None:
                one(back)

    return step


def _linked(j: Transformer, trip: Block, chain: Value, more: list[Value], position: int) -> object:
    """The trip yields a chain with one more link in place of its backpropagator; the kind of this loop's links."""
    of = (LINK, trip)
    builder = Builder(trip, j.builder.span)
    *results, back = trip.results
    link = builder.append_untyped(get("py.environment"), [back, *more, chain], attrs={"of": of}).result
    trip.results = [*results[:position], link, *results[position:]]
    return of


def stepped(j: Transformer, op: Op) -> Step:
    """A for loop; first what it steps through, where that has to be made."""
    if op.attrs.get("indexed"):
        return _stepped(j, op)
    subject = op.operands[0]
    attrs: dict[str, object] = {"operation": "py.stepped", "attributes": {"loop": op}, "order": 1}
    listed = Value(None, subject.name)
    j.values[listed], back_of_list = j.emit("with_back", [j.values[subject]], 2, **attrs)
    looping = _stepped(j, Op(op.prim, [listed, *op.operands[1:]], op.results, op.attrs, op.blocks, op.span))

    def step(back: Back) -> None:
        looping(back)
        back.call(back_of_list, back.of_outputs([listed], 1), [subject])

    return step


def _stepped(j: Transformer, op: Op) -> Step:
    """A for loop over pairs of elements and their backpropagators."""
    (body,) = op.blocks
    subject, *start = op.operands
    breaks = bool(op.attrs.get("breaks"))
    indexed = op.attrs.get("indexed", 0)
    assert isinstance(indexed, int)
    free = j.free(body)
    chain, pair = Value(None, "chain"), Value(None, "pair")
    trip = j.region(body, body.params, lambda back: [back.take(v) for v in (*body.params, *free)],
                       outputs=int(breaks))  # fmt: skip
    first = trip.params[0]
    builder = Builder(Block(), op.span)
    element = builder.append_untyped(get("py.part"), [pair], attrs={"index": 0}).result
    back_of_element = builder.append_untyped(get("py.part"), [pair], attrs={"index": 1}).result
    substitute(trip, {first: element})
    trip.ops[:0] = builder.block.ops
    link = _linked(j, trip, chain, [back_of_element], int(breaks))
    trip.params[:1] = [pair, chain]
    end = j.emit("environment", of=END)[0]
    operands = [j.values[subject], end, *j.mapped(start)]
    attrs = {**op.attrs, "indexed": indexed + 1}
    made = j.builder.append_untyped(get("py.for"), operands, attrs=attrs, blocks=[trip],
                                       results=len(op.results) + 1)  # fmt: skip
    j.bind(op, made.results[1:])
    return lambda back: _backwards(j, back, op, start, made.results[0], link, free, element=True)


def _backwards(
    j: Transformer, back: Back, op: Op, start: Sequence[Value], chain: Value, of: object, free: Sequence[Value], *,
    element: bool = False,
) -> None:  # fmt: skip
    """The loop over the links of the chain, the last trip first.

    It carries the sensitivities of the loop's values, of what the loop reads, and of what it steps through.
    """
    carried = [j.filled(back, back.take(r), r) for r in op.results]
    gathered = [op.operands[0], *free] if element else list(free)
    sums = [j.filled(back, back.one("zero"), v) for v in gathered]
    count = 1 + len(carried) + len(sums)
    test, trip = (Block([Value() for _ in range(count)]) for _ in range(2))
    asked = Builder(test, op.span).append_untyped(get("py.is_environment"), test.params[:1], attrs={"of": of})
    test.results = [asked.result]
    inner = Back(set())
    inner.builder = Builder(trip, op.span)
    made, *links = inner.emit("opened", trip.params[:1], 3 if element else 2, of=of)
    mine, totals = trip.params[1 : 1 + len(carried)], trip.params[1 + len(carried) :]
    given = mine[0] if len(mine) == 1 else inner.one("tuple", mine)
    parts = inner.one("call", [made, given], keywords=())
    found = [inner.one("part", [parts], index=i) for i in range(int(element) + len(carried) + len(free))]
    if element:
        found.insert(1 + len(carried), inner.one("call", [links[0], found[0]], keywords=()))
        del found[0]
    added = [inner.one("sum", [x, y]) for x, y in zip(totals, found[len(carried) :], strict=True)]
    trip.results = [links[-1], *found[: len(carried)], *added]
    loop = back.builder.append_untyped(get("py.while"), [chain, *carried, *sums], attrs={"peel": True},
                                       blocks=[test, trip], results=count)  # fmt: skip
    for value, sensitivity in zip([*start, *gathered], loop.results[1:], strict=True):
        back.give(value, sensitivity)
