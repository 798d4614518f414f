"""Loops over prange: `check` refuses those whose trips depend on each other, `run` cuts the others into blocks.

    for{parallel} n, s:              t = array_empty blocks;  z = array_zeros blocks, m
      body (k, s1):                  for{threads} blocks:
        v = array_get x, k             body (b):
        array_inc h, j, v                lo = block_start b, n, blocks;  hi = block_start b + 1, n, blocks
        yield add s1, v        ->        p = for hi - lo, -0.0: body (i, s1): k = add lo, i;  ... array_inc zb, j, v
                                         array_swap t, b, p
                                     r = for blocks, s: add s, array_get t, b
                                     for blocks: h += row b of z

How many blocks there are follows from the number of trips alone, so results do not depend on threads.  Blocks of a loop
marked `threads` touch different memory, and the code generator may run them at the same time; any other reader of the
program may take them one after the other.  Where several trips add to one element, blocks add to arrays of their own
(`z`), or, if only neighbours do, even blocks come before odd ones.  Arrays that must not overlap are tested, and there
is a single block where they do.

Loops that differentiation makes of such loops are marked as well, and stay as they are where they cannot be cut.
"""

from __future__ import annotations

from collections.abc import Callable

from pullback.analysis.independence import Facts, Obstacle, Verdict, judge
from pullback.analysis.reductions import Reduction
from pullback.diagnostic import CompileError, Diagnostic
from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.ir.walk import clone_block, clone_ops, defined, substitute, uses
from pullback.prims.base import Emitter, get
from pullback.types import BOOL, I64, ArrayRef, Machine, Scalar

__all__ = ["PARALLEL", "THREADS", "check", "run"]

PARALLEL, THREADS = "parallel", "threads"  # attributes of `for`
_MOST_BLOCKS, _MOST_PRIVATE = 64, 16


def check(program: Program) -> None:
    """Refuse loops over prange that are not independent; what adds to elements becomes `array_inc` there."""
    for function in program.functions.values():
        loops = [op for op in function.body.walk() if op.attrs.get(PARALLEL)]
        if not loops:
            continue
        for loop in loops:
            _add_in_place(loop.blocks[0])
        facts = Facts(function, program)
        for loop in loops:
            obstacle = judge(loop, facts).obstacle
            if obstacle is not None:
                raise CompileError(_diagnostic(obstacle, loop))


def _diagnostic(obstacle: Obstacle, loop: Op) -> Diagnostic:
    span = obstacle.op.span if obstacle.op.span.line else loop.span
    return Diagnostic(obstacle.title, span, obstacle.label, obstacle.help)


def run(function: Function, program: Program) -> None:
    """Cut every marked loop whose trips are independent; loops inside of it stay whole."""
    if any(op.attrs.get(PARALLEL) for op in function.body.walk()):
        _Cutter(Facts(function, program)).block(function.body)


class _Cutter:
    def __init__(self, facts: Facts) -> None:
        self.facts = facts

    def block(self, block: Block) -> None:
        ops: list[Op] = []
        for op in block.ops:
            if not op.attrs.pop(PARALLEL, False):
                for inner in op.blocks:
                    self.block(inner)
                ops.append(op)
                continue
            verdict = judge(op, self.facts)
            if verdict.obstacle is None:
                for nested in op.blocks[0].walk():
                    nested.attrs.pop(PARALLEL, None)
                ops += self.cut(op, verdict)
            else:
                for inner in op.blocks:
                    self.block(inner)
                ops.append(op)
        block.ops = ops

    def cut(self, loop: Op, verdict: Verdict) -> list[Op]:
        """The blocks; or the loop itself, where arrays overlap that blocks would have copies of."""
        copied = {base for base, distance in verdict.added.items() if not distance}
        tests = [pair for pair in verdict.tests if not copied.isdisjoint(pair)]
        if not tests:
            return _Cut(loop, verdict).ops
        e = Emitter(Block(), loop.span)
        overlap = e("array_overlap", *tests[0])
        for pair in tests[1:]:
            overlap = e("or_", overlap, e("array_overlap", *pair))
        whole = clone_ops([loop], {})
        results = loop.results
        loop.results = [Value(v.type, v.name) for v in results]
        blocks = [Block([], whole, whole[0].results), Block([], _Cut(loop, verdict).ops, loop.results)]
        return [*e.block.ops, Op(get("if"), [overlap], results, {}, blocks, loop.span)]


class _Cut:
    """One loop while it is cut."""

    def __init__(self, loop: Op, verdict: Verdict) -> None:
        self.loop, self.verdict = loop, verdict
        self.e = Emitter(Block(), loop.span)
        self.distance = max(verdict.added.values(), default=0)
        self.private = [base for base, distance in verdict.added.items() if not distance]
        e = self.e
        self.trips = e("maximum", loop.operands[0], e.integer(0))
        self.blocks = self.count()
        self.parts = [self.part(i) for i in range(len(verdict.reductions))]
        self.copies = [self.copy(base) for base in self.private]
        self.phases()
        self.join()
        for base, copy in zip(self.private, self.copies, strict=True):
            self.add(base, copy)
        self.ops = e.block.ops

    def count(self) -> Value:
        """The number of blocks."""
        e, most = self.e, _MOST_PRIVATE if self.private else _MOST_BLOCKS
        found = e("minimum", self.trips, e.integer(most))
        if self.distance:
            # Blocks of at least that many trips, as far as there are two.
            found = e("minimum", found, e("floordiv", self.trips, e.integer(self.distance)))
            found = e("maximum", found, e("minimum", self.trips, e.integer(1)))
        tests = [e("array_overlap", one, other) for one, other in self.verdict.tests]
        tests += [e("lt", self.total(*parts), e.integer(0)) for parts in self.verdict.positive]
        for test in tests:
            found = e("select", test, e("minimum", found, e.integer(1)), found)
        return found

    def total(self, parts: tuple[tuple[Value, int], ...], constant: int) -> Value:
        """A sum of multiples."""
        e = self.e
        found = e.integer(constant)
        for value, factor in parts:
            found = e("add", found, e("mul", value, e.integer(factor)))
        return found

    def part(self, number: int) -> Value | None:
        """Room for what each block finds of a carried value."""
        reduction = self.verdict.reductions[number]
        type_ = self.loop.results[number].type
        assert isinstance(type_, Scalar)
        return None if reduction.name == "last" else self.e("array_empty", self.blocks, dtype=type_.dtype)

    def copy(self, base: Value) -> Value:
        """Arrays of zeros, one for each block, of the shape of this one."""
        assert isinstance(base.type, ArrayRef)
        sizes = [self.e("array_size", base, axis=axis) for axis in range(base.type.rank)]
        return self.e("array_zeros", self.blocks, *sizes, dtype=base.type.dtype)

    # ---------------------------------------------------------------------------------------------------- the blocks

    def phases(self) -> None:
        """All blocks; even ones, then odd ones, where neighbours may meet."""
        e, body = self.e, self.loop.blocks[0]
        if not self.distance:
            self.over(self.blocks, body, lambda inner, b: b)
            return
        one, two = e.integer(1), e.integer(2)
        even = e("floordiv", e("add", self.blocks, one), two)
        odd = e("floordiv", self.blocks, two)
        later = clone_block(body, {})
        self.over(even, body, lambda inner, b: inner("mul", b, inner.integer(2)))
        self.over(odd, later, lambda inner, b: inner("add", inner("mul", b, inner.integer(2)), inner.integer(1)))

    def over(self, count: Value, body: Block, number: Callable[[Emitter, Value], Value]) -> None:
        """A loop over blocks."""
        index = Value(I64, "b")
        inner = Emitter(Block([index]), self.loop.span)
        at = number(inner, index)
        first = inner("block_start", at, self.trips, self.blocks)
        end = inner("block_start", inner("add", at, inner.integer(1)), self.trips, self.blocks)
        starts = [
            value if part is None else inner.constant(reduction.identity, _machine(value))
            for part, reduction, value in zip(
                self.parts, self.verdict.reductions, self.loop.operands[1:], strict=True)
        ]  # fmt: skip
        self.place(inner, body, first, end)
        types = [_machine(v) for v in starts]
        attrs = dict(self.loop.attrs)
        trips = inner.append(get("for"), [inner("sub", end, first), *starts], attrs=attrs, blocks=[body], types=types)
        for part, found in zip(self.parts, trips.results, strict=True):
            if part is not None:
                inner.op("array_swap", part, at, found)
        self.own(inner, body, at)
        self.e.append(get("for"), [count], attrs={THREADS: True}, blocks=[inner.block], types=[])

    def place(self, outside: Emitter, body: Block, first: Value, end: Value) -> None:
        """The number of the trip from that in the block.  Reverse loops go down, so that what they index goes up."""
        trip, own = body.params[0], Value(I64, "i")
        body.params[0] = own
        if not self.loop.attrs.get("reverse"):
            body.ops.insert(0, Op(get("add"), [first, own], [trip], span=self.loop.span))
            return
        last = outside("sub", end, outside.integer(1))
        inside = defined(body, nested=True)
        for op in body.ops:
            if op.name == "sub" and op.operands[1] is trip and op.operands[0] not in inside:
                op.prim, op.operands = get("add"), [outside("sub", op.operands[0], last), own]
        if uses(body).get(trip):
            body.ops.insert(0, Op(get("sub"), [last, own], [trip], span=self.loop.span))

    def own(self, outside: Emitter, body: Block, at: Value) -> None:
        """Let the block add to arrays of its own."""
        views: dict[Value, Value] = {}
        made: list[Op] = []
        for base, copy in zip(self.private, self.copies, strict=True):
            e = Emitter(Block(), self.loop.span)
            view = e("view_index", copy, at, axis=0)
            if view.type != base.type:
                view = e("view_relax", view)
            views[base] = view
            made += e.block.ops
        substitute(body, views)
        place = next(i for i, op in enumerate(outside.block.ops) if op.blocks)
        outside.block.ops[place:place] = made

    # ------------------------------------------------------------------------------------------------------ the ends

    def join(self) -> None:
        """Join what the blocks found, in their order; the results are those of the loop."""
        e = self.e
        joined = [
            (i, part, reduction)
            for i, (part, reduction) in enumerate(zip(self.parts, self.verdict.reductions, strict=True))
            if part is not None
        ]
        if joined:
            index = Value(I64, "b")
            carried = [Value(self.loop.results[i].type, self.loop.results[i].name) for i, _, _ in joined]
            inner = Emitter(Block([index, *carried]), self.loop.span)
            inner.block.results = [
                _joined(inner, reduction, so_far, inner("array_get", part, index))
                for (_, part, reduction), so_far in zip(joined, carried, strict=True)
            ]
            starts = [self.loop.operands[1 + i] for i, _, _ in joined]
            op = e.append(get("for"), [self.blocks, *starts], blocks=[inner.block], types=[_machine(v) for v in starts])
            op.results = [self.loop.results[i] for i, _, _ in joined]
        for i, reduction in enumerate(self.verdict.reductions):
            if reduction.name == "last":
                assert reduction.value is not None
                some = e("gt", self.trips, e.integer(0))
                op = e.op("select", some, reduction.value, self.loop.operands[1 + i])
                op.results = [self.loop.results[i]]

    def add(self, base: Value, copy: Value) -> None:
        """base += the sum over all blocks, block by block."""
        assert isinstance(base.type, ArrayRef)
        rank, index = base.type.rank, Value(I64, "b")
        inner = Emitter(Block([index]), self.loop.span)
        row = inner("view_index", copy, index, axis=0)
        sizes = [inner("array_size", row, axis=axis) for axis in range(rank)]
        element = Value(Scalar(base.type.dtype))
        block = Block([element], [], [element])
        attrs: dict[str, object] = {"rank": rank, "outputs": ("inc",), "targets": 1}
        inner.append(get("elementwise"), [*sizes, row, base], attrs=attrs, blocks=[block], types=[])
        self.e.append(get("for"), [self.blocks], blocks=[inner.block], types=[])


def _joined(e: Emitter, reduction: Reduction, so_far: Value, part: Value) -> Value:
    if reduction.check is not None:
        lost = e(f"{reduction.name}_overflows", so_far, part)
        attrs = dict(reduction.check.attrs)
        e.append(get("check"), [e("not_", lost)], attrs=attrs, types=[])
    return e(reduction.name, so_far, part, **dict(reduction.attrs or {}))


def _machine(value: Value) -> Machine:
    assert value.type is not None
    return value.type


# ------------------------------------------------------------------------------------------------ adding in place


def _add_in_place(body: Block) -> None:
    """h[j] = h[j] + v becomes an addition to h[j], whatever its index is."""
    count = uses(body)
    for block in _blocks(body):
        _elements(block, count)
        for op in block.ops:
            if op.name == "elementwise":
                _rows(op)


def _blocks(block: Block) -> list[Block]:
    found = [block]
    for op in block.ops:
        if op.name != "elementwise":
            for inner in op.blocks:
                found += _blocks(inner)
    return found


def _elements(block: Block, count: dict[Value, int]) -> None:
    makers = {op.results[0]: (i, op) for i, op in enumerate(block.ops) if len(op.results) == 1}
    gone: set[Op] = set()
    for at, swap in enumerate(block.ops):
        if swap.name != "array_swap" or count.get(swap.result) or swap.operands[-1].type == BOOL:
            continue
        _, change = makers.get(swap.operands[-1], (0, None))
        if change is None or change.name not in ("add", "sub") or count[change.result] != 1:
            continue
        for side, other in ((0, 1), (1, 0)):
            start, read = makers.get(change.operands[side], (0, None))
            if read is None or read.name != "array_get" or read.operands != swap.operands[:-1]:
                continue
            if count[read.result] != 1:
                continue
            if (change.name == "sub" and side) or any("write" in _effects(op) for op in block.ops[start:at]):
                continue
            value = change.operands[other]
            if change.name == "sub":
                negated = Op(get("neg"), [value], [Value(value.type)], span=change.span)
                change.prim, change.operands, change.results = negated.prim, negated.operands, negated.results
                value = change.results[0]
            else:
                gone.add(change)
            gone.add(read)
            swap.prim, swap.operands, swap.results = get("array_inc"), [*swap.operands[:-1], value], []
            break
    block.ops = [op for op in block.ops if op not in gone]


def _effects(op: Op) -> set[str]:
    found = set(op.prim.effects)
    for block in op.blocks:
        for inner in block.walk():
            found |= inner.prim.effects
    return found


def _rows(op: Op) -> None:
    """The same of whole rows: the sole output "set" of a sum with the target's own elements."""
    (block,) = op.blocks
    if op.attrs["outputs"] != ("set",) or not block.ops or block.ops[-1].name != "add":
        return
    rank, target, change = int(str(op.attrs["rank"])), op.operands[-1], block.ops[-1]
    inputs = op.operands[rank:-1]
    if inputs.count(target) != 1 or block.results != [change.result] or not isinstance(target.type, ArrayRef):
        return
    at = inputs.index(target)
    own = block.params[at]
    if uses(block)[own] != 1 or own not in change.operands or own.type == BOOL:
        return
    block.results = [change.operands[1 - change.operands.index(own)]]
    block.ops.pop()
    block.params.pop(at)
    op.operands.pop(rank + at)
    op.attrs = {**op.attrs, "outputs": ("inc",)}
