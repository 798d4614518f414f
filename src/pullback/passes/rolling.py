"""What the trips of a reverse loop add to neighbouring elements is added up in numbers first, and to each element once.

    for n {reverse}:                         p = for n, 0.0 {reverse}:
      body (k):                                body (k, q):
        j = sub last, k                          j = sub last, k
        i = add j, one                           i = add j, one
        array_inc g, j, x            ->          s = add q, y
        array_inc g, i, y                        array_inc g, i, s
                                                 yield x
                                             if (gt n, 0):  array_inc g, (sub last + 1, n), p

An element of `g` gets parts from a few trips in a row; their sum waits in carried numbers until the last of them.  That
spares loads and stores, and loads that wait for the store of the trip before.  Only innermost loops of derivatives,
whose sums have no order; nothing in the loop reads what it adds to.  This belongs after the pass `order`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial, reduce

from pullback.analysis.overlap import Overlap
from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.ir.walk import defined
from pullback.passes.order import ANY_ORDER, REVERSE
from pullback.prims.base import Emitter, get
from pullback.types import ArrayRef, DType, Scalar

__all__ = ["run"]

_MOST = 3  # carried numbers
_READS = frozenset({"array_get", "buffer_get", "array_swap"})
_FLOATS = (Scalar(DType.F32), Scalar(DType.F64))


@dataclass(frozen=True, slots=True)
class _Place:
    """The index `root + sign * counter + offset` (root: None for 0)."""

    sign: int
    root: Value | None
    offset: int


def run(function: Function, program: Program) -> None:
    """Rewrite the innermost loops of derivatives."""
    if any(op.attrs.get(REVERSE) for op in function.body.walk()):
        _Rolling(Overlap(function, program)).block(function.body)


class _Rolling:
    def __init__(self, overlap: Overlap) -> None:
        self.overlap, self.maker = overlap, overlap.maker

    def block(self, block: Block) -> None:
        ops: list[Op] = []
        for op in block.ops:
            for inner in op.blocks:
                self.block(inner)
            before, after = Emitter(Block(), op.span), list[Op]()
            if op.name == "for" and op.attrs.get(REVERSE) and not op.attrs.get(ANY_ORDER) and _straight(op.blocks[0]):
                for group in self.groups(op.blocks[0]):
                    after += _carry(op, *group, before)
            ops += [*before.block.ops, op, *after]
        block.ops = ops

    def groups(self, body: Block) -> list[tuple[list[Op], list[_Place]]]:
        """Additions to neighbours in one row of an array that the loop does not read."""
        inside = defined(body)
        rows: dict[tuple[object, ...], list[tuple[Op, _Place]]] = {}
        for op in body.ops:
            if op.name != "array_inc" or op.operands[-1].type not in _FLOATS:
                continue
            array, *fixed, index, _ = op.operands
            place = self.place(index, body.params[0], inside)
            if place is not None and inside.isdisjoint((array, *fixed)):
                rows.setdefault((array, *fixed, place.sign, place.root), []).append((op, place))
        found = []
        for row in rows.values():
            ops, places = [op for op, _ in row], [place for _, place in row]
            if 0 < _width(places) <= _MOST and not self.is_read(body, ops[0].operands[0]):
                found.append((ops, places))
        return found

    def is_read(self, body: Block, array: Value) -> bool:
        return any(
            self.overlap.meet(array, op.operands[0])
            for op in body.ops if op.name in _READS and isinstance(op.operands[0].type, ArrayRef)
        )  # fmt: skip

    def place(self, index: Value, counter: Value, inside: set[Value]) -> _Place | None:
        """An index that moves by one from trip to trip."""
        if index is counter:
            return _Place(1, None, 0)
        op = self.maker.get(index)
        if op is None or op.name not in ("add", "sub"):
            return None
        one, other = op.operands
        if other is counter and one not in inside:
            return _Place(1 if op.name == "add" else -1, one, 0)
        if one is counter and op.name == "add" and other not in inside and self.number(other) is None:
            return _Place(1, other, 0)
        number, inner = self.number(other), self.place(one, counter, inside) if one in inside else None
        if number is None or inner is None:
            return None
        return _Place(inner.sign, inner.root, inner.offset + (number if op.name == "add" else -number))

    def number(self, value: Value) -> int | None:
        op = self.maker.get(value)
        found = op.attrs["value"] if op is not None and op.name == "const" else None
        return found if type(found) is int else None


def _straight(body: Block) -> bool:
    """Does every trip do all that stands there, and change memory by what is known here alone."""
    return not any(op.blocks or (op.prim.effects and op.name not in (*_READS, "array_inc")) for op in body.ops)


def _width(places: Sequence[_Place]) -> int:
    offsets = [place.offset for place in places]
    return max(offsets) - min(offsets)


def _carry(loop: Op, ops: Sequence[Op], places: Sequence[_Place], before: Emitter) -> list[Op]:
    """Add up in carried numbers; the additions that are left when the loop has ended.

    The element of age a is complete a trips later; `waiting[a]` is its sum so far, without this trip.
    """
    (body,), sign = loop.blocks, places[0].sign
    last = min(place.offset * sign for place in places) * sign
    ages = [(place.offset - last) * sign for place in places]
    kind = ops[0].operands[-1].type
    assert isinstance(kind, Scalar)
    waiting, left = ([Value(kind) for _ in range(max(ages))] for _ in range(2))
    e, sums = Emitter(Block(), ops[-1].span), list[Value]()
    for age in range(max(ages) + 1):
        parts = [*waiting[age : age + 1], *(op.operands[-1] for op, a in zip(ops, ages, strict=True) if a == age)]
        sums.append(reduce(partial(e, "add"), parts))
    final = ops[ages.index(0)]
    e.op("array_inc", *final.operands[:-1], sums[0])
    body.ops = [*(op for op in body.ops if op not in ops), *e.block.ops]
    body.params, body.results = [*body.params, *waiting], [*body.results, *sums[1:]]
    zero = before.constant(0.0, kind)
    loop.operands, loop.results = [*loop.operands, *(zero for _ in waiting)], [*loop.results, *left]
    return _rest(loop, final, _Place(sign, places[0].root, last), left)


def _rest(loop: Op, final: Op, place: _Place, left: Sequence[Value]) -> list[Op]:
    """Add what still waits, if there was any trip: to elements between those that the last one added to."""
    outer, inner = Emitter(Block(), loop.span), Emitter(Block(), final.span)
    count = loop.operands[0]
    for age, value in enumerate(left):
        step = inner.integer(place.offset + age * place.sign)
        start = step if place.root is None else inner("add", place.root, step)
        index = inner("add" if place.sign > 0 else "sub", start, count)
        inner.op("array_inc", *final.operands[:-2], index, value)
    some = outer("gt", count, outer.integer(0))
    outer.block.ops.append(Op(get("if"), [some], [], {}, [inner.block, Block()], loop.span))
    return outer.block.ops
