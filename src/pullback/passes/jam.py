"""Runs the inner loops of some neighbouring trips together, as far as they all go, where each is a chain of additions.

    for n, c:                              for n, c, start, left, q0, q1, ...:
      body (j, c):                           body (j, c, ...):
        s = for m(j), x(j): f(j)               if no trip is left and there are four more:
        rest                       ->            start = min(m(j), ..., m(j + 3)), left = 4
                                                 q0, ..., q3 = for start, x(j), ..., x(j + 3): f(j), ..., f(j + 3)
                                               s = for m(j) - start, q0: f(j), from start on
                                               rest;  q0, q1, q2 = q1, q2, q3;  left = left - 1

An addition waits for the one before; those of other trips need not.  Every trip computes what it did in the same order,
also what a check raises: the loops that are begun early only read, and nothing that the trips between write.  For
values: sums of derivatives may be added up in any order anyway.
"""

from __future__ import annotations

from functools import partial, reduce
from itertools import islice

from pullback.analysis.independence import Facts
from pullback.analysis.neighbours import Nest, is_movable, nest_of
from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.ir.walk import clone_ops, count_ops, replace_ops
from pullback.prims.base import Emitter, get
from pullback.types import I64

__all__ = ["AS_IT_IS", "run"]

AS_IT_IS = "as_it_is"  # attribute of loops that are not to be unrolled
_TOGETHER = 4
# Inner trips up to which the processor finds the next chain by itself: it looks further ahead where they do little.
# Fewer where neighbours lie side by side, as they become a vector.
_SHORT, _SHORT_BUSY, _SHORT_VECTOR = 32, 128, 16
_UNEVEN = 4  # times as many outer trips there must be where inner loops differ in length: many may be short
_LITTLE = 2  # operations on numbers, of a trip
_MOST, _NESTS = 60, 8  # ops of an outer body, which is written twice; nests of a function


def run(function: Function, program: Program) -> None:
    """Jam the nests of the function."""
    found = [nest for op in function.body.walk() if (nest := nest_of(op)) is not None]
    if not found:
        return
    facts = Facts(function, program)
    small = [nest for nest in found if count_ops(nest.outer.blocks[0]) <= _MOST]
    movable = (nest for nest in small if is_movable(nest, facts, _TOGETHER))
    chosen = {nest.outer: nest for nest in islice(movable, _NESTS)}
    replace_ops(function.body, lambda op: _choice(chosen[op]) if op in chosen else [op])


def _choice(nest: Nest) -> list[Op]:
    """The loop as it was where its inner loops are short, else jammed."""
    outer, e = nest.outer, Emitter(Block(), nest.outer.span)
    short = _SHORT_VECTOR if nest.side_by_side() else _SHORT if nest.work() <= _LITTLE else _SHORT_BUSY
    bound = nest.bound(e.block.ops)
    many = e("ge", outer.operands[0], e.integer(2 * _TOGETHER if nest.is_even() else _UNEVEN * short))
    if bound is not None:
        many = e("and_", many, e("ge", bound, e.integer(short)))
    (plain,) = clone_ops([outer], {})
    results, count = outer.results, len(outer.results)
    outer.results = [Value(v.type, v.name) for v in results]
    before = _jam(nest, short)
    blocks = [Block((), [*before, outer], outer.results[:count]), Block((), [plain], plain.results)]
    e.block.ops.append(Op(get("if"), [many], results, {}, blocks, outer.span))
    return e.block.ops


def _jam(nest: Nest, short: int) -> list[Op]:
    """Change the loop, which then also carries the chains that are begun; ops to put before it."""
    outer, inner, body = nest.outer, nest.inner, nest.outer.blocks[0]
    trips, *inits = inner.operands
    before, e, after = (Emitter(Block(), inner.span) for _ in range(3))
    zero = before.integer(0)
    starts = [zero, zero, *(before.like(0.0, v) for v in inits for _ in range(_TOGETHER))]
    params = [Value(v.type) for v in starts]
    more = e("ge", e("sub", outer.operands[0], body.params[0]), e.integer(_TOGETHER))
    begin = e("and_", e("eq", params[1], zero), more)
    first, count, *heads = _either(e, begin, _begun(nest, params, short), params)
    jammed = e("gt", count, zero)
    start = e("select", jammed, first, zero)
    own = (e("select", jammed, heads[i * _TOGETHER], v) for i, v in enumerate(inits))
    inner.operands = [e("sub", trips, start), *own]
    inner.attrs[AS_IT_IS] = True
    _start_at(inner.blocks[0], start)
    fewer = after("maximum", after("sub", count, after.integer(1)), zero)
    at = body.ops.index(inner)
    body.ops = [*body.ops[:at], *e.block.ops, *body.ops[at:], *after.block.ops]
    body.params += params
    body.results += [first, fewer, *_next(heads)]
    outer.operands += starts
    outer.results += [Value(v.type) for v in starts]
    return before.block.ops


def _begun(nest: Nest, otherwise: list[Value], short: int) -> Block:
    """Begin the chains of some trips, if all of them are long and no check is in the way."""
    e, index, trips = Emitter(Block(), nest.inner.span), nest.outer.blocks[0].params[0], nest.inner.operands[0]
    mappings: list[dict[Value, Value]] = [{}, *({index: e("add", index, e.integer(t))} for t in range(1, _TOGETHER))]
    for mapping in mappings[1:]:
        e.block.ops += clone_ops(nest.tests, mapping)
    lengths = dict.fromkeys(mapping.get(trips, trips) for mapping in mappings)
    length = reduce(partial(e, "minimum"), lengths)
    good = e("ge", length, e.integer(short))
    for condition in dict.fromkeys(mapping.get(v, v) for mapping in mappings[1:] for v in nest.conditions):
        good = e("and_", good, condition)
    e.block.results = _either(e, good, _chains(nest, mappings, length), otherwise)
    return e.block


def _chains(nest: Nest, mappings: list[dict[Value, Value]], length: Value) -> Block:
    """One loop for the inner loops of several trips."""
    e, body = Emitter(Block(), nest.inner.span), nest.inner.blocks[0]
    for mapping in mappings[1:]:
        e.block.ops += clone_ops(nest.before, mapping)
    counter, *carried = body.params
    inits = [mapping.get(v, v) for v in nest.inner.operands[1:] for mapping in mappings]
    joint = Block([Value(I64, counter.name), *(Value(v.type) for v in inits)])
    seen: dict[object, list[Value]] = {}
    found = []
    for number, mapping in enumerate(mappings):
        inside = {**mapping, counter: joint.params[0]}
        inside.update((v, joint.params[1 + i * _TOGETHER + number]) for i, v in enumerate(carried))
        _copy(body.ops, inside, joint.ops, seen)
        found.append([inside.get(v, v) for v in body.results])
    joint.results = [results[i] for i in range(len(carried)) for results in found]
    types = [v.type for v in inits if v.type is not None]
    loop = e.append(get("for"), [length, *inits], attrs={AS_IT_IS: True}, blocks=[joint], types=types)
    e.block.results = [length, e.integer(_TOGETHER), *loop.results]
    return e.block


def _copy(ops: list[Op], mapping: dict[Value, Value], out: list[Op], seen: dict[object, list[Value]]) -> None:
    """Append copies of the ops; what has been computed for another trip already is not computed again."""
    for op in ops:
        key = op.name, *(mapping.get(v, v) for v in op.operands), repr(op.attrs)
        if key in seen:
            mapping.update(zip(op.results, seen[key], strict=True))
        else:
            (copy,) = clone_ops([op], mapping)
            out.append(copy)
            seen[key] = copy.results


def _either(e: Emitter, condition: Value, then: Block, otherwise: list[Value]) -> list[Value]:
    types = [v.type for v in otherwise if v.type is not None]
    return e.append(get("if"), [condition], blocks=[then, Block((), (), otherwise)], types=types).results


def _start_at(body: Block, first: Value) -> None:
    """The body's counter becomes first + a counter from 0."""
    counter = body.params[0]
    body.params[0] = Value(I64, counter.name)
    body.ops.insert(0, Op(get("add"), [first, body.params[0]], [counter]))


def _next(heads: list[Value]) -> list[Value]:
    """The chains of the trips that follow; the last place is not used again."""
    return [heads[i if (i + 1) % _TOGETHER == 0 else i + 1] for i in range(len(heads))]
