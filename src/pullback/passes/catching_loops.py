"""Loops where exceptions are caught: what they change of the state is carried, and a raise ends them.

    for n: body may raise     ->     k, ..., site = while(site == 0 and k < n): body, site
    while cond: body          ->     the same; a condition that may raise is found before the loop and after each trip
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from pullback.ir.node import Block, Op, Value
from pullback.passes.catching import SITE, Blocks, Sites, State, is_raised, machine
from pullback.prims.base import Emitter, get
from pullback.types import BOOL, Machine

__all__ = ["Loops"]

Test = Callable[[Emitter, Sequence[Value]], Value]
Step = Callable[[Emitter, Sequence[Value], State], tuple[list[Value], State]]


@dataclass(frozen=True, slots=True, eq=False)
class _Loop:
    """A loop being made: the old op, the first values, of which the last are the parts `keys` of the state.

    extra: how many values come before those that the old op has.
    """

    op: Op
    start: list[Value]
    keys: list[Hashable]
    state: State
    extra: int = 0

    @property
    def own(self) -> int:
        """How many values are not parts of the state."""
        return len(self.start) - len(self.keys)


class Loops(Blocks):
    """The part of the walk that writes loops."""

    def carried(self, op: Op, state: State, caught: Sites) -> tuple[list[Hashable], Sites]:
        """The parts of the state that a loop changes, and the sites by which it does."""
        sites = self.sites_of(op, caught)
        marks = (inner for block in op.blocks for inner in block.walk() if inner.name == "mark")
        marked = {key for inner in marks for key in self.marked(inner)}
        return [*(key for key in state if key in marked), *(self.keys(sites) if sites else [])], sites

    def for_(self, e: Emitter, op: Op, state: State, caught: Sites) -> None:
        keys, sites = self.carried(op, state, caught)
        count, *start = self.mapped(op.operands)
        start += self.state_values(e, state, keys)
        (body,) = op.blocks
        if not sites:
            block = Block()
            params = self.fresh(body.params)
            given = [Value(machine(v)) for v in start[len(params) - 1 :]]
            block.params = [*params, *given]
            inner = Emitter(block, op.span)
            results, after = self.run(inner, body, 0, state | dict(zip(keys, given, strict=True)), caught)
            block.results = results + self.state_values(inner, after, keys)
            made = e.append(get("for"), [count, *start], blocks=[block], types=list(map(machine, start)))
            self.finish(_Loop(op, start, keys, state), made)
            return

        def test(inner: Emitter, params: Sequence[Value]) -> Value:
            return inner("lt", params[0], count)

        def step(inner: Emitter, params: Sequence[Value], state: State) -> tuple[list[Value], State]:
            self.bind(body.params, params)
            k = params[0]
            results, after = self.run(inner, body, 0, state, caught)
            return [inner("add", k, inner.integer(1)), *results], after

        self.loop(e, _Loop(op, [e.integer(0), *start], keys, state, 1), test, step)

    def while_(self, e: Emitter, op: Op, state: State, caught: Sites) -> None:
        keys, sites = self.carried(op, state, caught)
        start = [*self.mapped(op.operands), *self.state_values(e, state, keys)]
        cond, body = op.blocks
        if sites and any(self.sites_of(inner, caught) for inner in cond.ops):
            self.rotated(e, op, start, keys, state, caught)
            return

        def test(inner: Emitter, params: Sequence[Value]) -> Value:
            self.bind(cond.params, params)
            return self.run(inner, cond, 0, {}, caught)[0][0]

        def step(inner: Emitter, params: Sequence[Value], state: State) -> tuple[list[Value], State]:
            self.bind(body.params, params)
            return self.run(inner, body, 0, state, caught)

        self.loop(e, _Loop(op, start, keys, state), test, step)

    def rotated(
        self, e: Emitter, op: Op, start: list[Value], keys: list[Hashable], state: State, caught: Sites
    ) -> None:
        """A `while` whose condition may raise: it is found before the loop and at the end of each trip."""
        cond, body = op.blocks
        width = len(start) - len(keys)

        def goes_on(inner: Emitter, values: Sequence[Value], state: State) -> tuple[list[Value], State]:
            self.bind(cond.params, values)
            (go,), after = self.run(inner, cond, 0, state, caught)
            if SITE in after:
                go = inner("and_", go, inner("eq", after[SITE], inner.integer(0)))
            return [go], after

        (go,), before = goes_on(e, start[:width], state)
        state.update(before)
        start = [go, *start[:width], *self.state_values(e, state, keys)]

        def test(inner: Emitter, params: Sequence[Value]) -> Value:
            return params[0]

        def step(inner: Emitter, params: Sequence[Value], state: State) -> tuple[list[Value], State]:
            self.bind(body.params, params[1:])
            results, after = self.run(inner, body, 0, state, caught)
            if SITE not in after:
                (go,), after = goes_on(inner, results, after)
                return [go, *results], after
            fine = {key: value for key, value in after.items() if not is_raised(key)}
            (go,), after = self.choose(
                inner, inner("eq", after[SITE], inner.integer(0)),
                lambda e: goes_on(e, results, fine), lambda e: ([e.boolean(False)], after),
            )  # fmt: skip
            return [go, *results], after

        self.loop(e, _Loop(op, start, keys, state, 1), test, step)

    def loop(self, e: Emitter, loop: _Loop, test: Test, step: Step) -> None:
        """A `while` that ends where the state is set."""
        types = [machine(v) for v in loop.start]
        cond = self.condition(loop, types, test)
        params = [Value(t) for t in types]
        body = Block(params)
        inner = Emitter(body, loop.op.span)
        given = dict(zip(loop.keys, params[loop.own :], strict=True))
        marks = {key: value for key, value in given.items() if not is_raised(key)}
        results, after = step(inner, params[: loop.own], {**loop.state, **marks})
        body.results = results + self.state_values(inner, after, loop.keys)
        self.finish(loop, e.append(get("while"), loop.start, blocks=[cond, body], types=types))

    def condition(self, loop: _Loop, types: Sequence[Machine], test: Test) -> Block:
        """Nothing was raised and the test holds; it is not made after a raise."""
        params = [Value(t) for t in types]
        block = Block(params)
        e = Emitter(block, loop.op.span)
        if SITE not in loop.keys:
            block.results = [test(e, params)]
            return block
        fine = e("eq", params[loop.own + loop.keys.index(SITE)], e.integer(0))
        trip, none = Emitter(Block(), loop.op.span), Emitter(Block(), loop.op.span)
        trip.block.results = [test(trip, params)]
        none.block.results = [none.boolean(False)]
        block.results = e.append(get("if"), [fine], blocks=[trip.block, none.block], types=(BOOL,)).results
        return block

    def finish(self, loop: _Loop, made: Op) -> None:
        """Take the results of the new op apart."""
        count = len(made.results) - len(loop.keys)
        self.bind(loop.op.results, made.results[loop.extra : count])
        loop.state.update(zip(loop.keys, made.results[count:], strict=True))
