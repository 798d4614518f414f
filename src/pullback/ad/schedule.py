"""Loops that keep snapshots and run trips again where their residuals would not fit into the memory budget.

    for n, u0: body (k, u)     ->     leaf, slots = plan of (budget, bytes a trip, bytes of the state)
                                      while remaining > leaf:                        none, where everything fits
                                        step = advance(remaining, leaf, slots)
                                        u = call{checkpoint} chunk(done, step, leaf, slots, u)
                                      for remaining, u: body (done + k, u)           these trips keep residuals

`chunk` is such a loop again, so the calls nest: the reverse pass of a call runs its trips again from the snapshot that
the call kept, with snapshots of its own.  `advance` chooses as Griewank and Walther's revolve (ACM TOMS 26, 2000) does,
with `leaf` trips in place of one: with s snapshots and r repetitions binomial(s + r, s) leaves are within reach.

A `while` does not know its trips on entry: the first ones keep residuals; then chunks follow, the more trips each the
more there have been (their lengths double when half of the snapshots that are left are used).

    while cond, u0: body     ->     while k < leaf and cond: body
                                    while cond: u = call{checkpoint} chunk(length, leaf, slots, u)

Loops that change objects, or whose trips are numbered by memory they write into, stay as they are; so do loops inside
others, unless they work on whole arrays.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pullback.ad.advance import ADVANCE, advance_function
from pullback.ad.checkpoints import reads
from pullback.analysis.alias import Aliases, Writes, record_links
from pullback.analysis.cells import TABLE_WRITES
from pullback.analysis.effects import elementwise_targets
from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.ir.walk import clone_block, clone_ops, free_values, substitute
from pullback.prims.base import Emitter, get
from pullback.prims.budget import OVER_BUDGET
from pullback.types import I64, ArrayRef, DType, Machine, Scalar

__all__ = ["Budget", "schedule"]

MOST = 1 << 40  # trips: all of them
WORTH = 8  # snapshots; what takes no more than these is rather kept as it is
DEFAULT = 64  # snapshots of a loop whose length is not known
NEAR = 8 << 20  # bytes: leaves stay within a processor's cache, and what the allocator keeps for the next one
_KEPT_OUT = TABLE_WRITES | {"table_rows", "slot_inc", "buffer_put", "buffer_inc", "box", "text_call", "vjp", "pullback"}
_WHOLE = frozenset({"elementwise", "matmul", "matmul_inc", "call"})


@dataclass(frozen=True, slots=True)
class Budget:
    """How loops keep within the budget.

    mode: "schedule" (all that can), "arrays" (those that work on whole arrays), or "guard": where a loop would not keep
    within it, the call is given up before anything can be seen of it, for code that was made with "schedule".
    size: bytes, if they are known while compiling; otherwise they are read when the program runs.
    """

    mode: str = "schedule"
    size: int | None = None


def schedule(function: Function, program: Program, written: dict[str, Writes], budget: Budget) -> None:
    """Rewrite the loops of a function that is about to be differentiated in reverse."""
    aliases = Aliases(function, written, record_links(program))
    plans = {op: plan for op in function.body.walk() if (plan := _plan(program, aliases, op)) is not None}
    if plans:
        _Scheduler(function, program, plans, budget).block(function.body, inside=False)


@dataclass(slots=True)
class _Plan:
    """What a chunk of the loop is given besides what it carries; the arrays of that which trips read and write."""

    free: list[Value]
    written: list[Value]


def _plan(program: Program, aliases: Aliases, op: Op) -> _Plan | None:
    """None where the loop stays as it is."""
    if op.name not in ("for", "while") or any(op.attrs.get(mark) for mark in ("reverse", "scheduled", "parallel")):
        return None
    if not all(isinstance(v.type, Scalar | ArrayRef) for v in op.results):
        return None
    if any(o.name in _KEPT_OUT or o.attrs.get("scheduled") for block in op.blocks for o in block.walk()):
        return None
    if op.name == "while" and any(map(_acts, op.blocks[0].walk())):
        return None
    free = list(dict.fromkeys(v for block in op.blocks for v in free_values(block)))
    if any(aliases.followed(v) for v in (*free, *op.results)):
        return None  # a call could not run again
    written = [v for v in free if isinstance(v.type, ArrayRef) and aliases.written_inside(v, op)]
    if not any(map(_floats, [*op.results, *written])):
        return None
    return _Plan(free, [v for v in written if reads(program, op.blocks, v)])


def _acts(op: Op) -> bool:
    """Must the op not run once more than the program says."""
    if op.name == "elementwise":
        return bool(elementwise_targets(op))
    return op.name in ("call", "text_effect") or "write" in op.prim.effects


def _floats(value: Value) -> bool:
    return isinstance(value.type, Scalar | ArrayRef) and value.type.dtype.is_float


@dataclass(slots=True)
class _Scheduler:
    function: Function
    program: Program
    plans: dict[Op, _Plan]
    budget: Budget
    _serial: Iterator[int] = field(default_factory=itertools.count)

    def block(self, block: Block, *, inside: bool) -> None:
        for op in list(block.ops):
            loop = op.name in ("for", "while")
            for inner in op.blocks:
                if op.name != "elementwise":
                    self.block(inner, inside=inside or loop)
            plan = self.plans.get(op)
            if plan is None:
                continue
            if "snapshots" in op.attrs:
                self.rewrite(block, op, plan)
            elif _on_arrays(op) or not (inside or self.budget.mode == "arrays"):
                (self.guard if self.budget.mode == "guard" else self.rewrite)(block, op, plan)

    def rewrite(self, block: Block, op: Op, plan: _Plan) -> None:
        """Put the schedule in the place of the loop."""
        chunk = _Chunk(op, plan, self.name())
        self.program.functions.setdefault(ADVANCE, advance_function())
        self.program.functions[chunk.name] = chunk.function(self.function)
        e = Emitter(Block(), op.span)
        results = _planned(e, chunk, self.budget)
        at = block.ops.index(op)
        block.ops[at : at + 1] = e.block.ops
        mapping = dict(zip(op.results, results, strict=True))
        substitute(self.function.body, mapping)
        for other in self.plans.values():
            other.free = [mapping.get(v, v) for v in other.free]
            other.written = [mapping.get(v, v) for v in other.written]

    def guard(self, block: Block, op: Op, plan: _Plan) -> None:
        """Before the loop, or in each trip of a `while`: give up if the trips would keep too much."""
        e = Emitter(Block(), op.span)
        chunk = _Chunk(op, plan, self.name())
        op.attrs = {**op.attrs, "identity": chunk.name}
        room = _room(e, self.budget)
        trip = e("trip_bytes", _state_bytes(e, [*chunk.inits, *plan.written]), loop=chunk.name)
        most = e("floordiv", room, e("maximum", trip, e.integer(1)))
        most = e("select", e("eq", trip, e.integer(0)), e.integer(MOST), most)
        if chunk.counted:
            _give_up_unless(e, e("le", op.operands[0], most))
        else:
            self.count(e, op, most)
        at = block.ops.index(op)
        block.ops[at:at] = e.block.ops

    def count(self, e: Emitter, op: Op, most: Value) -> None:
        cond, body = op.blocks
        op.operands.append(e.integer(0))
        op.results.append(Value(I64, "trips"))
        cond.params.append(Value(I64, "trip"))
        body.params.append(Value(I64, "trip"))
        inner = Emitter(Block(), op.span)
        _give_up_unless(inner, inner("lt", body.params[-1], most))
        body.results.append(inner("add", body.params[-1], inner.integer(1)))
        body.ops[0:0] = inner.block.ops

    def name(self) -> str:
        while (name := f"{self.function.name}.chunk{next(self._serial)}") in self.program.functions:
            pass  # of an earlier derivative
        return name


def _on_arrays(op: Op) -> bool:
    """Does a trip work on whole arrays: an inner loop for which a test on entry is nothing."""
    return any(o.name in _WHOLE for block in op.blocks for o in block.walk())


# --------------------------------------------------------------------------------------------------------------- chunks


@dataclass(slots=True)
class _Chunk:
    """The loop as a function of its first trip, the number of trips, leaf, slots, what it uses and what it carries."""

    loop: Op
    plan: _Plan
    name: str

    @property
    def counted(self) -> bool:
        return self.loop.name == "for"

    @property
    def carried(self) -> list[Machine]:
        return [v.type for v in self.loop.results if v.type is not None]

    @property
    def inits(self) -> list[Value]:
        return self.loop.operands[1:] if self.counted else list(self.loop.operands)

    def function(self, around: Function) -> Function:
        """The chunk: it returns the trips done (of a `while`), and what is carried."""
        body = Block([Value(I64, n) for n in ("first", "count", "leaf", "slots")])
        first, count, leaf, slots = body.params
        free = [Value(v.type, v.name) for v in self.plan.free]
        inits = [Value(v.type, v.name) for v in self.inits]
        body.params += [*free, *inits]
        e = Emitter(body, self.loop.span)
        mapping = dict(zip(self.plan.free, free, strict=True))
        spine = self.spine(e, first, count, leaf, slots, free, inits, mapping)
        done, remaining = spine[:2]
        if self.counted:
            body.results = self.trips(e, e("add", first, done), remaining, spine[2:], mapping)
        else:
            more, *last = self.trips_while(e, remaining, spine[2:], mapping)
            body.results = [e("add", done, more), *last]
        return Function(self.name, body, around.span, {"outlined": True})

    def spine(
        self, e: Emitter, first: Value, count: Value, leaf: Value, slots: Value, free: Sequence[Value],
        inits: Sequence[Value], mapping: dict[Value, Value],
    ) -> list[Value]:  # fmt: skip
        """Checkpointed chunks while more than `leaf` trips remain: trips done and remaining, then what is carried."""
        cond, body = self._blocks(["done", "remaining", "slots"])
        test = Emitter(cond, e.span)
        cond.results = [test("gt", cond.params[1], leaf)]
        if not self.counted:
            cond.results = [test("and_", cond.results[0], self.condition(test, cond.params[3:], mapping))]
        b = Emitter(body, e.span)
        done, remaining, left = body.params[:3]
        step = b.append(get("call"), [remaining, leaf, left], attrs={"callee": ADVANCE}, types=[I64]).result
        trips, *carried = self.call(b, b("add", first, done), step, leaf, left, free, body.params[3:])
        body.results = [b("add", done, trips), b("sub", remaining, trips), b("sub", left, b.integer(1)), *carried]
        loop = _while(e, [e.integer(0), count, slots, *inits], cond, body)
        return [*loop[:2], *loop[3:]]

    def call(
        self, e: Emitter, first: Value, step: Value, leaf: Value, slots: Value, free: Sequence[Value],
        carried: Sequence[Value],
    ) -> list[Value]:  # fmt: skip
        """A checkpointed chunk: the trips done, then what is carried."""
        types = self.carried if self.counted else [I64, *self.carried]
        attrs: dict[str, object] = {"callee": self.name, "checkpoint": True}
        made = e.append(get("call"), [first, step, leaf, slots, *free, *carried], attrs=attrs, types=types)
        return [step, *made.results] if self.counted else made.results

    def trips(
        self, e: Emitter, first: Value | None, count: Value, inits: Sequence[Value], mapping: dict[Value, Value],
        identity: str | None = None,
    ) -> list[Value]:  # fmt: skip
        """The loop itself over some trips."""
        mapping = dict(mapping)
        body = clone_block(self.loop.blocks[0], mapping)
        if first is not None:
            k = Value(I64, body.params[0].name)
            shift = Emitter(Block(), e.span)
            index = shift("add", first, k)
            substitute(body, {body.params[0]: index})
            body.params[0] = k
            body.ops[0:0] = shift.block.ops
        attrs = {**self.loop.attrs, "scheduled": True} | ({} if identity is None else {"identity": identity})
        return e.append(get("for"), [count, *inits], attrs=attrs, blocks=[body], types=self.carried).results

    def trips_while(
        self, e: Emitter, most: Value, inits: Sequence[Value], mapping: dict[Value, Value], identity: str | None = None
    ) -> list[Value]:
        """The loop itself for some trips at most: how many there were, then what is carried."""
        mapping = dict(mapping)
        cond, body = self._blocks(["k"])
        test = Emitter(cond, e.span)
        cond.results = [test("and_", test("lt", cond.params[0], most), self.condition(test, cond.params[1:], mapping))]
        b = Emitter(body, e.span)
        mapping.update(zip(self.loop.blocks[1].params, body.params[1:], strict=True))
        body.ops += clone_ops(self.loop.blocks[1].ops, mapping)
        following = [mapping.get(v, v) for v in self.loop.blocks[1].results]
        body.results = [b("add", body.params[0], b.integer(1)), *following]
        return _while(e, [e.integer(0), *inits], cond, body, self.loop.attrs, identity)

    def condition(self, e: Emitter, carried: Sequence[Value], mapping: dict[Value, Value]) -> Value:
        inner = {**mapping, **dict(zip(self.loop.blocks[0].params, carried, strict=True))}
        e.block.ops += clone_ops(self.loop.blocks[0].ops, inner)
        (test,) = self.loop.blocks[0].results
        return inner.get(test, test)

    def _blocks(self, counters: Sequence[str]) -> tuple[Block, Block]:
        found = [Block([*(Value(I64, n) for n in counters), *(Value(t) for t in self.carried)]) for _ in range(2)]
        return found[0], found[1]


def _while(
    e: Emitter, inits: Sequence[Value], cond: Block, body: Block, attrs: dict[str, object] | None = None,
    identity: str | None = None,
) -> list[Value]:  # fmt: skip
    types = [v.type for v in body.params if v.type is not None]
    attrs = {**(attrs or {}), "scheduled": True} | ({} if identity is None else {"identity": identity})
    return e.append(get("while"), inits, attrs=attrs, blocks=[cond, body], types=types).results


# ----------------------------------------------------------------------------------------------------------- the plan


def _give_up_unless(e: Emitter, fits: Value) -> None:
    e.op("check", fits, exception=OVER_BUDGET, message="")


def _room(e: Emitter, budget: Budget) -> Value:
    return e("memory_budget") if budget.size is None else e.integer(budget.size)


def _planned(e: Emitter, chunk: _Chunk, budget: Budget) -> list[Value]:
    """The loop in its place: what it carries in the end."""
    free, inits = chunk.plan.free, chunk.inits
    if "snapshots" in chunk.loop.attrs:
        return _asked(e, chunk)
    identity = chunk.name
    room = _room(e, budget)
    state = _state_bytes(e, [*inits, *chunk.plan.written])
    trip = e("trip_bytes", state, loop=identity)
    each = e("maximum", trip, e.integer(1))
    none = e("eq", trip, e.integer(0))
    most = e("floordiv", room, e.integer(4))
    others = most if chunk.counted else e("floordiv", room, e.integer(2))  # a `while` keeps a third for its first trips
    shelf = e("maximum", most, e("sub", e("sub", room, others), e.integer(2 * NEAR)))
    slots = e("maximum", e("floordiv", shelf, state), e.integer(4))
    if chunk.counted:
        count = e("maximum", chunk.loop.operands[0], e.integer(0))
        bounded = e("minimum", slots, e.integer(1 << 30))  # so that the product does not overflow
        most, near = e("floordiv", most, each), e("floordiv", e.integer(NEAR), each)
        # Leaves beyond a cache cost more than running trips a third time, which r = 2 repetitions are enough for.
        pairs = e("maximum", e("floordiv", e("mul", bounded, bounded), e.integer(2)), e.integer(1))
        enough = e("add", e("floordiv", count, pairs), e.integer(1))
        leaf = e("maximum", e("minimum", most, e("maximum", near, enough)), e.integer(1))
        enough_room = e("maximum", room, e("mul", state, e.integer(WORTH)))
        fits = e("or_", none, e("le", count, e("floordiv", enough_room, each)))
        leaf = e("select", fits, count, leaf)
        spine = chunk.spine(e, e.integer(0), count, leaf, slots, free, inits, {})
        return chunk.trips(e, spine[0], spine[1], spine[2:], {}, identity)
    third = e("maximum", e("floordiv", room, e.integer(3)), e("mul", state, e.integer(WORTH)))
    first = e("select", none, e.integer(MOST), e("maximum", e("floordiv", third, each), e.integer(1)))
    _, *carried = chunk.trips_while(e, first, inits, {}, identity)
    leaf = e("maximum", e("floordiv", e("minimum", third, e.integer(NEAR)), each), e.integer(1))
    return _chunks(e, chunk, leaf, slots, carried)


def _asked(e: Emitter, chunk: _Chunk) -> list[Value]:
    """The loop with a number of snapshots that the program says; 0: with as many as make two repetitions enough."""
    one, slots = e.integer(1), e.integer(int(str(chunk.loop.attrs["snapshots"])) or DEFAULT)
    if not chunk.counted:
        _, *carried = chunk.trips_while(e, one, chunk.inits, {})
        return _chunks(e, chunk, one, slots, carried)
    count = e("maximum", chunk.loop.operands[0], e.integer(0))
    if not chunk.loop.attrs["snapshots"]:
        twice = e("cast", e("mul", count, e.integer(2)), to=DType.F64)
        slots = e("add", e("cast", e("trunc", e("sqrt", twice)), to=DType.I64), one)
    spine = chunk.spine(e, e.integer(0), count, one, slots, chunk.plan.free, chunk.inits, {})
    return chunk.trips(e, spine[0], spine[1], spine[2:], {})


def _chunks(e: Emitter, chunk: _Chunk, leaf: Value, slots: Value, inits: Sequence[Value]) -> list[Value]:
    """What follows the first trips of a `while`: chunks whose lengths double."""
    names = ["length", "quota", "used"]
    cond, body = (Block([*(Value(I64, n) for n in names), *(Value(t) for t in chunk.carried)]) for _ in range(2))
    test = Emitter(cond, e.span)
    cond.results = [chunk.condition(test, cond.params[3:], {})]
    b = Emitter(body, e.span)
    length, quota, used = body.params[:3]
    one, two = b.integer(1), b.integer(2)
    _, *carried = chunk.call(b, b.integer(0), length, leaf, slots, chunk.plan.free, body.params[3:])
    now = b("add", used, one)
    full = b("ge", now, quota)
    longer = b("minimum", b("mul", length, two), b.integer(MOST))
    fewer = b("maximum", b("floordiv", quota, two), one)
    body.results = [
        b("select", full, longer, length), b("select", full, fewer, quota), b("select", full, b.integer(0), now),
        *carried,
    ]  # fmt: skip
    half = e("maximum", e("floordiv", slots, e.integer(2)), e.integer(1))
    return _while(e, [leaf, half, e.integer(0), *inits], cond, body)[3:]


def _state_bytes(e: Emitter, values: Sequence[Value]) -> Value:
    """The size of a snapshot."""
    total = e.integer(64)
    for value in dict.fromkeys(values):
        total = e("add", total, bytes_of(e, value))
    return total


def bytes_of(e: Emitter, value: Value) -> Value:
    """What a copy of a number or an array takes."""
    if not isinstance(value.type, ArrayRef):
        return e.integer(8)
    size = e.integer(value.type.dtype.bytes)
    for axis in range(value.type.rank):
        size = e("mul", size, e("array_size", value, axis=axis))
    return size

