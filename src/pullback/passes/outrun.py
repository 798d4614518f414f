"""A recurrence runs some trips ahead of what is computed from it, which then are vectors.

    for n, h, s:                               for n / 32, h, s:
      body (k, h, s):                            body (b, h, s):
        h1 = add (mul h, p), x[k]                  for 32, h: kept[t] = h1 = add (mul h, p), x[32 b + t]
        s1 = add s, (log h1)           ->          for 32, s: s1 = add s, (log kept[t])
        yield h1, s1                             for the trips left: as it was

The second loop carries nothing but sums, so that `ahead` takes its functions for many trips at once and adds them up in
the order written: the same bits.  The first one does nothing that could be seen, whatever a check in the second finds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pullback.analysis.numeric import is_numeric
from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.ir.walk import clone_ops, replace_ops, uses
from pullback.passes.jam import AS_IT_IS
from pullback.prims.base import Elementary, Emitter, Prim, get
from pullback.types import I64, DType, Scalar

__all__ = ["run"]

_TRIPS = 32  # as many as `ahead` takes at once
_WORTH = 20  # work of what follows, from which it pays
_MOST = 60  # ops of a body, which is written twice
_WORK = {"div": 4, "sqrt": 6}
_FUNCTION = 20
_LEFT_ALONE = frozenset({"any_order", "as_it_is", "parallel", "threads", "scheduled"})
_READS = frozenset({"array_get", "buffer_get"})


@dataclass(frozen=True, slots=True)
class _Parts:
    """first: places of carried values that go ahead.  chain, rest: the ops of either loop.  kept: what passes."""

    first: list[int]
    sums: list[int]
    chain: list[Op]
    rest: list[Op]
    kept: list[Value]


def run(function: Function, program: Program) -> None:
    """Cut the loops of the function in two where that pays."""
    replace_ops(function.body, lambda op: _cut(op, parts) if (parts := _parts(op)) is not None else [op])


def _parts(loop: Op) -> _Parts | None:
    if loop.name != "for" or len(loop.results) < 2 or not _LEFT_ALONE.isdisjoint(loop.attrs):
        return None
    body = loop.blocks[0]
    if len(body.ops) > _MOST or any(op.blocks for op in body.ops) or not _is_quiet(body):
        return None
    if not all(isinstance(v.type, Scalar) for v in loop.results):
        return None
    sums = _sums(body)
    first = [i for i in range(len(loop.results)) if i not in sums]
    params = [body.params[1 + i] for i in first]
    moving = _from(body.ops, params)
    if not sums or not any(body.results[i] in moving for i in first):
        return None
    chain = _behind(body.ops, [body.results[i] for i in first])
    needed = {v for op in chain for v in op.results if v in moving} | set(params)
    # What follows: all that has an effect, and the sums; what does not hang on the recurrence is computed again.
    last = [op for op in body.ops if op.prim.effects and op.name not in _READS]
    wanted = [*(body.results[i] for i in sums), *(v for op in last for v in op.operands)]
    rest = _behind(body.ops, wanted, stop=needed, also=last)
    used = dict.fromkeys([*(v for op in rest for v in op.operands), *wanted])
    kept = [v for v in used if v in needed]
    if not kept or sum(map(_work, rest)) < _WORTH or not all(isinstance(v.type, Scalar) for v in kept):
        return None
    return _Parts(first, sums, chain, rest, kept)


def _is_quiet(body: Block) -> bool:
    """Does the body only read, test numbers, and put into buffers that it does not read."""
    makers = {value: op for op in body.ops for value in op.results}
    read = {op.operands[0] for op in body.ops if op.name == "buffer_get"}
    for op in body.ops:
        if op.name == "check":
            if not is_numeric(op.operands[0], makers.get):
                return False
        elif op.name == "buffer_put":
            if read:
                return False
        elif op.prim.effects and op.name not in _READS:
            return False
    return True


def _sums(body: Block) -> list[int]:
    """The places of carried values that are added to and nothing else."""
    count = uses(body)
    reader = {value: op for op in body.ops for value in op.operands}
    found: list[int] = []
    for i, (param, result) in enumerate(zip(body.params[1:], body.results, strict=True)):
        value = param
        while value is not result and count.get(value) == 1:
            op = reader.get(value)
            if op is None or not (op.name == "add" or (op.name == "sub" and op.operands[0] is value)):
                break
            value = op.result
        if value is result and value is not param and count[value] == 1 and not _is_whole(value):
            found.append(i)
    return found


def _is_whole(value: Value) -> bool:
    return not (isinstance(value.type, Scalar) and value.type.dtype.is_float)


def _from(ops: Iterable[Op], values: Iterable[Value]) -> set[Value]:
    """All that hangs on the values."""
    found = set(values)
    for op in ops:
        if not found.isdisjoint(op.operands):
            found.update(op.results)
    return found


def _behind(
    ops: Sequence[Op], values: Iterable[Value], stop: Iterable[Value] = (), also: Sequence[Op] = ()
) -> list[Op]:
    """The ops that the values are made by, and these; what is in `stop` is there already."""
    done, needed, found = set(stop), set(values), list[Op]()
    for op in reversed(ops):
        if op in also or any(v in needed and v not in done for v in op.results):
            found.append(op)
            needed.update(op.operands)
    return found[::-1]


def _work(op: Op) -> int:
    if isinstance(op.prim, Prim) and any(isinstance(form, Elementary) for form in (op.prim.lower or {}).values()):
        return _FUNCTION
    return _WORK.get(op.name, 1) if op.name != "const" else 0


def _cut(loop: Op, parts: _Parts) -> list[Op]:
    body, e = loop.blocks[0], Emitter(Block(), loop.span)
    count = e.integer(_TRIPS)
    many = e("ge", loop.operands[0], e.integer(2 * _TRIPS))
    blocks = e("select", many, e("floordiv", loop.operands[0], count), e.integer(0))
    lanes = {v: e("array_empty", count, dtype=_dtype(v)) for v in parts.kept}
    outer = Emitter(Block([Value(I64), *(Value(v.type) for v in loop.results)]), loop.span)
    start = outer("mul", outer.block.params[0], count)
    given = outer.block.params[1:]
    ahead = _half(outer, count, start, body, parts.first, given, parts.chain, lanes, store=True)
    sums = _half(outer, count, start, body, parts.sums, given, parts.rest, lanes, store=False)
    found = dict(zip([*parts.first, *parts.sums], [*ahead, *sums], strict=True))
    outer.block.results = [found[i] for i in range(len(loop.results))]
    types = [v.type for v in loop.results if v.type is not None]
    operands = [blocks, *loop.operands[1:]]
    made = e.append(get("for"), operands, attrs={AS_IT_IS: True}, blocks=[outer.block], types=types)
    done = e("mul", blocks, count)
    counter, body.params[0] = body.params[0], Value(I64, body.params[0].name)
    body.ops.insert(0, Op(get("add"), [done, body.params[0]], [counter]))
    loop.operands = [e("sub", loop.operands[0], done), *made.results]
    return [*e.block.ops, loop]


def _half(
    e: Emitter, count: Value, start: Value, body: Block, places: Sequence[int], given: Sequence[Value],
    ops: Sequence[Op], lanes: dict[Value, Value], *, store: bool,
) -> list[Value]:  # fmt: skip
    """One of the two loops over a block of trips: what it carries at the end."""
    carried = [given[i] for i in places]
    inner = Emitter(Block([Value(I64), *(Value(v.type) for v in carried)]), e.span)
    at, *now = inner.block.params
    mapping = dict(zip((body.params[1 + i] for i in places), now, strict=True))
    mapping[body.params[0]] = inner("add", start, at)
    if not store:
        mapping.update((v, inner("array_get", lane, at)) for v, lane in lanes.items())
    inner.block.ops += clone_ops(ops, mapping)
    if store:
        for value, lane in lanes.items():
            inner.op("array_swap", lane, at, mapping[value])
    inner.block.results = [mapping.get(body.results[i], body.results[i]) for i in places]
    types = [v.type for v in carried if v.type is not None]
    return e.append(get("for"), [count, *carried], blocks=[inner.block], types=types).results


def _dtype(value: Value) -> DType:
    assert isinstance(value.type, Scalar)
    return value.type.dtype
