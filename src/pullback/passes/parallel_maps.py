"""Large maps and reductions over blocks of their first axis.

    c, s = elementwise{new, sum} n, m, a, b        c = array_empty n, m
                                                   s = if large
                                           ->          then: t = array_empty blocks
                                                             for{threads} blocks: the same of rows lo .. hi of a, b, c
                                                             elementwise{sum} over t
                                                       else: elementwise{set, sum} n, m, a, b, c

What is large, and how many blocks there are, follows from the sizes alone.  Blocks write rows of their own; where one
pass adds to views of one array that are shifted by a few rows, even blocks come before odd ones.  It runs only where
code for several threads is asked for.
"""

from __future__ import annotations

from collections.abc import Callable

from pullback.analysis.effects import elementwise_inputs, elementwise_targets
from pullback.analysis.overlap import Overlap
from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.ir.walk import clone_block
from pullback.passes.parallel import THREADS
from pullback.prims.base import Emitter, get
from pullback.types import I64, ArrayRef, DType, Machine, Scalar

__all__ = ["run"]

_LARGE = 1 << 17  # operations from which on a map is worth several threads
_PIECE = 1 << 15  # about how many a block has
_MOST_BLOCKS = 64
_FARTHEST = 8  # rows by which views of one array may be shifted


def run(function: Function, program: Program) -> None:
    """Cut every map over arrays that is not part of a parallel loop already."""
    _Maps(Overlap(function, program)).block(function.body)


class _Maps:
    def __init__(self, overlap: Overlap) -> None:
        self.overlap = overlap

    def block(self, block: Block) -> None:
        ops: list[Op] = []
        for op in block.ops:
            wide = _filling(op) if op.name == "array_zeros" else op
            if wide is not None and wide.name == "elementwise":
                plan = self.plan(wide)
                ops += plan.ops() if plan is not None else [op]
                continue
            if not op.attrs.get(THREADS):
                for inner in op.blocks:
                    self.block(inner)
            ops.append(op)
        block.ops = ops

    def plan(self, op: Op) -> _Plan | None:
        """How the map can be cut; None where blocks would write the same memory."""
        rank = int(str(op.attrs["rank"]))
        targets = elementwise_targets(op)
        if not rank or any(_rank(target) < rank for target in targets) or not (targets or op.results):
            return None
        plan = _Plan(op, rank)
        outputs = op.attrs["outputs"]
        assert isinstance(outputs, tuple)
        kinds = [kind for kind in outputs if kind in ("inc", "set")]
        adding = {target for target, kind in zip(targets, kinds, strict=True) if kind == "inc"}
        for i, target in enumerate(targets):
            others = [*targets[i + 1 :], *(v for v in elementwise_inputs(op) if isinstance(v.type, ArrayRef))]
            for other in others:
                if other is target or not self.overlap.meet_at_once(target, other):
                    continue
                if self.overlap.base(target) is self.overlap.base(other):
                    shift = self.shift(target, other) if target in adding and other in adding else None
                    if shift is None:
                        return None
                    plan.distance = max(plan.distance, shift)
                elif (target, other) not in plan.tests:
                    plan.tests.append((target, other))
        return plan

    def shift(self, one: Value, other: Value) -> int | None:
        """By how many rows at most two views of one array are apart, if by few, each with a row for one of the map."""
        first, second = self.rows(one), self.rows(other)
        if first is None or second is None or first[0] is not second[0]:
            return None
        distance = max(first[2] - second[1], second[2] - first[1])
        return distance if distance <= _FARTHEST else None

    def rows(self, value: Value) -> tuple[Value, int, int] | None:
        """The array, and between which numbers the first row of the view lies: a[2:] begins at min(2, len(a))."""
        least = most = 0
        while (op := self.overlap.maker.get(value)) is not None and op.name in ("view_slice", "view_relax"):
            if op.name == "view_slice" and op.attrs["axis"] == 0:
                first = self.start(op.operands[1]) if op.attrs.get("unit") else None
                if first is None:
                    return None
                least, most = least + first[0], most + first[1]
            value = op.operands[0]
        return None if op is not None and op.name.startswith("view_") else (value, least, most)

    def start(self, value: Value) -> tuple[int, int] | None:
        """Bounds of where a slice begins; it begins nowhere before 0."""
        op = self.overlap.maker.get(value)
        if op is None or op.name not in ("const", "minimum"):
            return None
        if op.name == "const":
            return int(str(op.attrs["value"])), int(str(op.attrs["value"]))
        made = [self.overlap.maker.get(v) for v in op.operands]
        known = [int(str(c.attrs["value"])) for c in made if c is not None and c.name == "const"]
        return (0, min(known)) if known and min(known) >= 0 else None


class _Plan:
    """One map while it is cut."""

    def __init__(self, op: Op, rank: int) -> None:
        self.op, self.rank = op, rank
        self.distance = 0
        self.tests: list[tuple[Value, Value]] = []
        self.e = Emitter(Block(), op.span)
        self.fresh: list[Value] = []
        self.full: dict[Value, Value] = {}  # does an array have as many rows as the map

    def ops(self) -> list[Op]:
        e, op = self.e, self.op
        sizes = op.operands[: self.rank]
        whole = self.placed()
        blocks, large = self.count(sizes)
        for one, other in self.tests:
            large = e("and_", large, e("not_", e("array_overlap", one, other)))
        for target in elementwise_targets(op):
            large = e("and_", large, e("eq", e("array_size", target, axis=0), sizes[0]))
        cut, rest = Emitter(Block(), op.span), Emitter(Block(), op.span)
        for array in self.arrays(whole):
            self.full[array] = cut("eq", cut("array_size", array, axis=0), sizes[0])
        cut.block.results = self.pieces(cut, whole, blocks, sizes)
        rest.block.ops = [whole]
        rest.block.results = list(whole.results)
        sums = [v for v in op.results if isinstance(v.type, Scalar)]
        e.block.ops.append(Op(get("if"), [large], sums, {}, [cut.block, rest.block], op.span))
        return e.block.ops

    def placed(self) -> Op:
        """The map with its new arrays made before it; their values are those that it gave."""
        e, op = self.e, self.op
        outputs = op.attrs["outputs"]
        assert isinstance(outputs, tuple)
        sizes, results, old = op.operands[: self.rank], iter(op.results), iter(elementwise_targets(op))
        targets: list[Value] = []
        sums: list[Value] = []
        for kind in outputs:
            if kind == "new":
                array = next(results)
                assert isinstance(array.type, ArrayRef)
                made = e.op("array_empty", *sizes, dtype=array.type.dtype)
                made.results = [array]
                targets.append(array)
            elif kind == "sum":
                value = next(results)
                sums.append(Value(value.type, value.name))
            else:
                targets.append(next(old))
        kinds = tuple("set" if kind == "new" else kind for kind in outputs)
        attrs = {**op.attrs, "outputs": kinds, "targets": len(targets)}
        operands = [*sizes, *elementwise_inputs(op), *targets]
        return Op(op.prim, operands, sums, attrs, op.blocks, op.span)

    def count(self, sizes: list[Value]) -> tuple[Value, Value]:
        """The number of blocks, and whether the map is large."""
        e = self.e
        work = e.integer(len(self.op.blocks[0].ops) + len(self.op.operands))
        for size in sizes:
            work = e("mul", work, size)
        blocks = e("minimum", sizes[0], e("minimum", e("floordiv", work, e.integer(_PIECE)), e.integer(_MOST_BLOCKS)))
        if self.distance:
            blocks = e("minimum", blocks, e("floordiv", sizes[0], e.integer(self.distance)))
        large = e("and_", e("ge", work, e.integer(_LARGE)), e("gt", blocks, e.integer(1)))
        return blocks, large

    def arrays(self, whole: Op) -> list[Value]:
        """The arrays that have rows of their own for rows of the map."""
        return list(dict.fromkeys(v for v in whole.operands[self.rank :] if _rank(v) == self.rank))

    def pieces(self, e: Emitter, whole: Op, blocks: Value, sizes: list[Value]) -> list[Value]:
        """The blocks; the sums of all."""
        parts = [e("array_empty", blocks, dtype=_dtype(v)) for v in whole.results]
        if not self.distance:
            self.over(e, blocks, whole, blocks, sizes, parts, lambda inner, b: b)
        else:
            even = e("floordiv", e("add", blocks, e.integer(1)), e.integer(2))
            odd = e("floordiv", blocks, e.integer(2))
            self.over(e, even, whole, blocks, sizes, parts, lambda inner, b: inner("mul", b, inner.integer(2)))
            self.over(e, odd, whole, blocks, sizes, parts,
                      lambda inner, b: inner("add", inner("mul", b, inner.integer(2)), inner.integer(1)))
        return [_total(e, part, blocks) for part in parts]

    def over(
        self, e: Emitter, count: Value, whole: Op, blocks: Value, sizes: list[Value], parts: list[Value],
        number: Callable[[Emitter, Value], Value],
    ) -> None:  # fmt: skip
        index = Value(I64, "b")
        inner = Emitter(Block([index]), self.op.span)
        at = number(inner, index)
        first = inner("block_start", at, sizes[0], blocks)
        rows = inner("sub", inner("block_start", inner("add", at, inner.integer(1)), sizes[0], blocks), first)
        views: dict[Value, Value] = {}
        for array, full in self.full.items():
            start = inner("select", full, first, inner.integer(0))
            length = inner("select", full, rows, inner.integer(1))
            views[array] = inner("view_slice", array, start, length, inner.integer(1), axis=0, unit=True)
        operands = [rows, *sizes[1:], *(views.get(v, v) for v in whole.operands[self.rank :])]
        results = [Value(v.type, v.name) for v in whole.results]
        body = clone_block(whole.blocks[0], {})
        inner.block.ops.append(Op(whole.prim, operands, results, {**whole.attrs, "shared": True}, [body], self.op.span))
        for part, found in zip(parts, results, strict=True):
            inner.op("array_swap", part, at, found)
        e.append(get("for"), [count], attrs={THREADS: True}, blocks=[inner.block], types=[])


def _filling(op: Op) -> Op | None:
    """An array of zeros as a map: one thread would be busy for longer than it takes two to read the array later."""
    array = op.result
    assert isinstance(array.type, ArrayRef)
    if not array.type.rank or not array.type.dtype.is_float:
        return None
    element = Value(Scalar(array.type.dtype))
    zero = Op(get("const"), [], [element], {"value": 0.0, "type": element.type}, span=op.span)
    attrs: dict[str, object] = {"rank": array.type.rank, "outputs": ("new",), "targets": 0}
    return Op(get("elementwise"), list(op.operands), [array], attrs, [Block([], [zero], [element])], op.span)


def _total(e: Emitter, part: Value, blocks: Value) -> Value:
    element = Value(Scalar(_dtype(part)))
    attrs: dict[str, object] = {"rank": 1, "outputs": ("sum",), "targets": 0}
    block = Block([element], [], [element])
    return e.append(get("elementwise"), [blocks, part], attrs=attrs, blocks=[block], types=[_scalar(part)]).result


def _rank(value: Value) -> int:
    return value.type.rank if isinstance(value.type, ArrayRef) else -1


def _dtype(value: Value) -> DType:
    assert isinstance(value.type, Scalar | ArrayRef)
    return value.type.dtype


def _scalar(part: Value) -> Machine:
    return Scalar(_dtype(part))
