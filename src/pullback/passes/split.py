"""Splits a counted loop where its index checks begin to fail: the first part needs none, the rest keeps them all.

    for n, s:                                  m = max(0, min(n, size))
      body (k, a):                             t = for m, s:
        ok = ult k, size                         body (k, a):
        check ok IndexError                        v = array_get x, k
        v = array_get x, k              ->         yield (add a, v)
        yield (add a, v)                       for (sub n, m), t:         the body as it was, k counted from m on

The rest fails at its first trip, after what that trip does before the check, exactly as the whole loop would; when all
indices are right it has no trips.  Other checks stay in both parts.  Only small loops are split, as the body is written
twice.  It belongs at the end: before differentiation it would double the work there.
"""

from __future__ import annotations

from dataclasses import dataclass

from pullback.analysis.effects import CALLS
from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.ir.walk import clone_block, count_ops, substitute
from pullback.prims import get
from pullback.prims.base import Emitter
from pullback.types import I64

__all__ = ["run"]

_MOST = 120  # ops of a body that may be written twice
_CHECKED = "checked"  # attribute of the rest, which is not split again


def run(function: Function, program: Program) -> None:
    """Split the loops of the function, inner ones first."""
    _Splitter().block(function.body)


@dataclass(frozen=True, slots=True)
class _Index:
    """An index `offset + k` or (`backwards`) `offset - k`, which must lie in [0, size); offset None is 0."""

    offset: Value | None
    backwards: bool
    size: Value


@dataclass(frozen=True, slots=True)
class _Fixed:
    """A condition that no trip changes."""

    condition: Value


class _Splitter:
    def __init__(self) -> None:
        self.constants: dict[Value, Op] = {}
        self.mapping: dict[Value, Value] = {}
        self.asked: set[Op] = set()  # checks that the first part of a loop does without

    def block(self, block: Block) -> None:
        mapping = self.mapping
        ops: list[Op] = []
        for op in block.ops:
            if mapping:
                op.operands = [mapping.get(v, v) for v in op.operands]
            for inner in op.blocks:
                self.block(inner)
            if op.name == "const":
                self.constants[op.results[0]] = op
            indices = self.indices(op) if op.name == "for" and not op.attrs.get(_CHECKED) else []
            ops += self.split(op, indices) if indices else [op]
        block.ops = ops
        block.results = [mapping.get(v, v) for v in block.results]

    def indices(self, loop: Op) -> list[_Index | _Fixed]:
        """What the checks of the body ask of indices; empty if the loop is not to be split."""
        body = loop.blocks[0]
        if count_ops(body) > _MOST:
            return []
        makers: dict[Value, Op] = {}
        found: list[_Index | _Fixed] = []
        for op in body.ops:
            makers.update((value, op) for value in op.results)
            if op.name == "check":
                index = self.index(op.operands[0], body, makers)
                if index is not None:
                    found.append(index)
                    self.asked.add(op)
            elif op.name in CALLS or op.name == "while" or any(o.name == "check" for b in op.blocks for o in b.walk()):
                return []
        return found

    def index(self, condition: Value, body: Block, makers: dict[Value, Op]) -> _Index | _Fixed | None:
        """The condition as ult(offset + k, size) with offset and size from outside the loop."""
        test = makers.get(condition)
        if test is None and condition not in body.params:
            return _Fixed(condition)
        if test is None or test.name != "ult" or test.operands[0].type != I64:
            return None
        index, size = test.operands
        wrap = makers.get(index)
        if wrap is not None and wrap.name == "wrap_index" and wrap.operands[1] is size:
            index = wrap.operands[0]
        if size in makers or size in body.params:
            return None
        counter, maker = body.params[0], makers.get(index)
        if index is counter:
            return _Index(None, False, size)
        if maker is None or maker.name not in ("add", "sub"):
            return None
        x, y = maker.operands
        if maker.name == "add" and counter in (x, y):
            offset = y if x is counter else x
        elif maker.name == "sub" and y is counter:
            offset = x
        else:
            return None
        inside = offset in makers or offset in body.params
        return None if inside else _Index(offset, maker.name == "sub", size)

    def split(self, loop: Op, indices: list[_Index | _Fixed]) -> list[Op]:
        e = Emitter(Block(), loop.span)
        trips, *inits = loop.operands
        safe = trips
        for index in dict.fromkeys(indices):
            if isinstance(index, _Fixed):
                safe = e("select", index.condition, safe, e.integer(0))
            else:
                safe = e("minimum", safe, self.first_wrong(e, index))
        safe = e("maximum", safe, e.integer(0))
        types = [v.type for v in loop.results if v.type is not None]
        main = e.append(get("for"), [safe, *inits], blocks=[self.unchecked(loop.blocks[0])], types=types)
        rest = e("sub", trips, safe)
        loop.operands = [rest, *main.results]
        loop.attrs[_CHECKED] = True
        self.start_at(loop.blocks[0], safe)
        return [*e.block.ops, loop]

    def first_wrong(self, e: Emitter, index: _Index) -> Value:
        """The first k whose index is out of range; 0 if the index may begin below 0."""
        size, offset, zero = index.size, index.offset, e.integer(0)
        if offset is None:
            return size
        if index.backwards:
            return e("select", e("lt", offset, size), e("add", offset, e.integer(1)), zero)
        return e("select", e("ge", offset, zero), e("sub", size, offset), zero)

    def unchecked(self, body: Block) -> Block:
        """A copy without the checks of indices; every index is in range, so it need not be wrapped either."""
        copy = clone_block(body, {})
        mapping: dict[Value, Value] = {}
        kept: list[Op] = []
        asked = {op for op, original in zip(copy.ops, body.ops, strict=True) if original in self.asked}
        conditions = {op.operands[0] for op in asked}
        tests = {op.operands[0] for op in copy.ops if op.results and op.results[0] in conditions}
        for op in copy.ops:
            if op.name == "wrap_index" and op.results[0] in tests:
                mapping[op.results[0]] = op.operands[0]
            elif op not in asked:
                kept.append(op)
        copy.ops = kept
        substitute(copy, mapping)
        return copy

    def start_at(self, body: Block, first: Value) -> None:
        """The body's counter becomes first + a counter from 0."""
        counter = body.params[0]
        body.params[0] = Value(I64, counter.name)
        body.ops.insert(0, Op(get("add"), [first, body.params[0]], [counter]))
