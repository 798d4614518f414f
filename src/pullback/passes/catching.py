"""Blocks as `passes.catch` writes them anew: ops that set the state, and what follows under an `if`.

The state is a dict of present values: "site" the number of the place that raised (absent: nothing has), ("pool", i)
what goes with it, ("mark", guard, i) what a handler is to see of variables.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pullback.analysis.raises import Site
from pullback.diagnostic import InternalError
from pullback.ir.node import Block, Op, Value
from pullback.prims.base import Emitter, get
from pullback.types import (
    EXCEPTION,
    I64,
    ArrayRef,
    Box,
    Buffer,
    Machine,
    Scalar,
    is_float,
)  # fmt: skip

if TYPE_CHECKING:
    from pullback.passes.catch import Plan

__all__ = ["SITE", "Blocks", "Landing", "Raised", "Sites", "State", "is_raised", "machine", "zero", "zeros"]

State = dict[Hashable, Value]
Sites = frozenset[Site]
Raised = tuple[Value, Site, list[Value]]  # unless the first holds
SITE = "site"
_MAY_TRAP = frozenset({"floordiv", "mod", "fmod"})


@dataclass(frozen=True, slots=True, eq=False)
class Landing:
    """A handler that is written where the body of its `try` raises, not after it.  `marks`: what only it sees."""

    marks: frozenset[Hashable]
    handle: Callable[[Emitter, State], tuple[list[Value], State]]


class Blocks:
    """The walk over blocks; what single ops mean is added by `catching_ops`."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.values: dict[Value, tuple[Value, ...]] = {}
        self.landings: dict[Block, Landing] = {}

    @abstractmethod
    def op(self, e: Emitter, op: Op, state: State, caught: Sites) -> None:
        """Emit one op and bring the state up to date, in place."""

    @abstractmethod
    def check(self, e: Emitter, op: Op, caught: Sites) -> list[Raised]:
        """Emit a check that nobody takes; of others tell what they raise."""

    @abstractmethod
    def reraise(
        self, e: Emitter, op: Op, block: Block, number: int, state: State, caught: Sites
    ) -> tuple[list[Value], State]:
        """Emit the end of a block at the op of that number."""

    # ------------------------------------------------------------------------------------------------ values

    def fresh(self, values: Iterable[Value]) -> list[Value]:
        """New values in place of these; an exception becomes several."""
        found: list[Value] = []
        for value in values:
            types = self.plan.exception if value.type == EXCEPTION else [value.type]
            self.values[value] = tuple(Value(type_, value.name) for type_ in types)
            found += self.values[value]
        return found

    def mapped(self, values: Iterable[Value]) -> list[Value]:
        return [new for value in values for new in self.values[value]]

    def bind(self, values: Sequence[Value], news: Sequence[Value]) -> None:
        """The old values are these new ones."""
        position = 0
        for value in values:
            width = len(self.plan.expanded([machine(value)]))
            self.values[value] = tuple(news[position : position + width])
            position += width


    def marked(self, op: Op) -> list[Hashable]:
        """The parts of the state that a mark sets."""
        before = op.attrs["before"]
        assert isinstance(before, tuple)
        first = len(self.plan.expanded(before))
        width = len(self.plan.expanded(machine(v) for v in op.operands))
        return [("mark", op.attrs["guard"], first + i) for i in range(width)]

    def keys(self, sites: Iterable[Site]) -> list[Hashable]:
        """The parts of the state that these sites set."""
        return [SITE, *(("pool", place) for place in self.plan.used(sites))]

    def state_values(self, e: Emitter, state: State, keys: Iterable[Hashable]) -> list[Value]:
        return [state[key] if key in state else zero(e, self.type_of(key)) for key in keys]

    def type_of(self, key: Hashable) -> Machine:
        if key == SITE:
            return I64
        assert isinstance(key, tuple)
        return self.plan.pool[key[1]]

    def sites_of(self, op: Op, caught: Sites) -> Sites:
        """The sites by which the op may set the state."""
        return caught.intersection(self.plan.raises.of_op(op)) if caught and _may_raise(op) else frozenset()

    # ------------------------------------------------------------------------------------------------ blocks

    def run(self, e: Emitter, block: Block, start: int, state: State, caught: Sites) -> tuple[list[Value], State]:
        """Emit the ops from `start` on; the block's results and the state at its end."""
        state = dict(state)
        pending: list[Raised] = []  # checks whose branch has not begun
        for number in range(start, len(block.ops)):
            op = block.ops[number]
            e.span = op.span
            if op.name == "check":
                if pending and not self.sites_of(op, caught):  # a check that leaves comes after those before it
                    return self.raising(e, pending, block, number, state, caught)
                pending += self.check(e, op, caught)
                continue
            if pending and not _quiet(op):
                return self.raising(e, pending, block, number, state, caught)
            if op.name == "reraise":
                return self.reraise(e, op, block, number, state, caught)
            self.op(e, op, state, caught)
            if SITE in state:
                return self.unless_raised(e, block, number + 1, state, caught)
        if pending and block in self.landings:
            return self.raising(e, pending, block, len(block.ops), state, caught)
        if pending:
            state |= self.noted(e, pending, failed=False)
        return self.mapped(block.results), state

    def raising(
        self, e: Emitter, pending: Sequence[Raised], block: Block, start: int, state: State, caught: Sites
    ) -> tuple[list[Value], State]:
        """What follows where the checks hold; else the state tells which does not."""
        condition = pending[0][0]
        for ok, _, _ in pending[1:]:
            condition = e("and_", condition, ok)
        return self.go_on_if(
            e, condition, block, start, state, caught, lambda e: state | self.noted(e, pending, failed=True)
        )  # fmt: skip

    def unless_raised(
        self, e: Emitter, block: Block, start: int, state: State, caught: Sites
    ) -> tuple[list[Value], State]:
        """What follows an op that may have set the state."""
        if start == len(block.ops) and block not in self.landings:
            return self.mapped(block.results), state
        fine = {key: value for key, value in state.items() if not is_raised(key)}
        condition = e("eq", state[SITE], e.integer(0))
        return self.go_on_if(e, condition, block, start, fine, caught, lambda e: state)

    def go_on_if(
        self, e: Emitter, condition: Value, block: Block, start: int, state: State, caught: Sites,
        failed: Callable[[Emitter], State],
    ) -> tuple[list[Value], State]:  # fmt: skip
        """The rest of the block where the condition holds; `failed`: the state where it does not."""
        landing, stay = self.landings.get(block), self.placeholders(block, start)
        if landing is None:
            return self.choose(
                e, condition, lambda e: self.run(e, block, start, state, caught), lambda e: (stay(e), failed(e))
            )  # fmt: skip

        def rest(e: Emitter) -> tuple[list[Value], State]:
            results, after = self.run(e, block, start, state, caught)
            return results, {key: value for key, value in after.items() if key not in landing.marks}

        return self.choose(e, condition, rest, lambda e: landing.handle(e, failed(e)))

    def placeholders(self, block: Block, start: int) -> Callable[[Emitter], list[Value]]:
        """The block's results where the ops from `start` on are not reached: nobody reads those that they make."""
        later = {value for op in block.ops[start:] for value in op.results}
        known = {value: self.values[value] for value in block.results if value not in later}

        def results(e: Emitter) -> list[Value]:
            found: list[Value] = []
            for value in block.results:
                found += known[value] if value in known else zeros(e, self.plan.expanded([machine(value)]))
            return found

        return results

    def noted(self, e: Emitter, pending: Sequence[Raised], failed: bool) -> State:
        """The state after checks of which the first that does not hold counts; `failed`: one is known not to."""
        found = {key: zero(e, self.type_of(key)) for key in self.keys(site for _, site, _ in pending)}
        for number, (ok, site, payload) in enumerate(reversed(pending)):
            places = [("pool", place) for place in self.plan.places(site.types)]
            news: State = {SITE: e.integer(self.plan.numbers[site]), **dict(zip(places, payload, strict=True))}
            for key, new in news.items():
                certain = number == 0 and (failed or key != SITE)  # what goes with nothing is not read
                found[key] = new if certain else pick(e, ok, found[key], new)
        return found

    def choose(
        self,
        e: Emitter,
        condition: Value,
        then: Callable[[Emitter], tuple[list[Value], State]],
        other: Callable[[Emitter], tuple[list[Value], State]],
    ) -> tuple[list[Value], State]:
        """An `if` of two ends: results, and the state where they differ."""
        sides = []
        for side in (then, other):
            inner = Emitter(Block(), e.span)
            sides.append((inner, *side(inner)))
        return self.merge(e, condition, sides)

    def merge(
        self, e: Emitter, condition: Value, sides: Sequence[tuple[Emitter, list[Value], State]]
    ) -> tuple[list[Value], State]:
        """An `if` of two blocks that were emitted on the side."""
        (_, first, a), (_, second, b) = sides
        keys = [key for key in {**a, **b} if a.get(key) is not b.get(key)]
        kept = {key: value for key, value in a.items() if b.get(key) is value}
        same = [x is y for x, y in zip(first, second, strict=True)]
        for inner, results, state in sides:
            changed = [value for value, both in zip(results, same, strict=True) if not both]
            inner.block.results = changed + [
                state[key] if key in state else zero(inner, self.key_type(key, a, b)) for key in keys
            ]
        types = [machine(value) for value in sides[0][0].block.results]
        blocks = [inner.block for inner, _, _ in sides]
        op = e.append(get("if"), [condition], blocks=blocks, types=types)
        found = iter(op.results)
        values = [x if both else next(found) for x, both in zip(first, same, strict=True)]
        return values, {**kept, **dict(zip(keys, found, strict=True))}

    def key_type(self, key: Hashable, *states: State) -> Machine:
        return next(machine(state[key]) for state in states if key in state)


def machine(value: Value) -> Machine:
    """The type of the value."""
    assert value.type is not None
    return value.type


def pick(e: Emitter, condition: Value, x: Value, y: Value) -> Value:
    """x where the condition holds, else y."""
    if isinstance(x.type, Scalar):
        return e("select", condition, x, y)
    return e.append(get("if"), [condition], blocks=[Block([], [], [x]), Block([], [], [y])], types=[machine(x)]).result


def zero(e: Emitter, type_: Machine) -> Value:
    """A value that nobody reads."""
    match type_:
        case Scalar():
            return e.constant(0, type_)
        case ArrayRef(dtype, rank, contiguous):
            made = e("array_zeros", *[e.integer(0)] * rank, dtype=dtype)
            return made if contiguous else e("view_relax", made)
        case Box(name):
            return e("box_null", name=name)
        case Buffer(element):
            return e("buffer", e.integer(0), element=element)
    raise InternalError(f"no value stands for a missing {type_}")


def zeros(e: Emitter, types: Iterable[Machine]) -> list[Value]:
    """Values that nobody reads."""
    return [zero(e, type_) for type_ in types]


def is_raised(key: Hashable) -> bool:
    """Does the part of the state tell of an exception."""
    return key == SITE or (isinstance(key, tuple) and key[0] == "pool")


def _may_raise(op: Op) -> bool:
    return op.name in ("check", "reraise", "try") or "callee" in op.attrs or bool(op.blocks)


def _quiet(op: Op) -> bool:
    """May the op be done before it is known whether a check before it holds: integers and truth values only.

    What computes floats may give infinities there, which would meet the zeros of a derivative.
    """
    if op.prim.effects or op.blocks or op.name in _MAY_TRAP:
        return False
    return all(isinstance(v.type, Scalar) and not is_float(v.type) for v in op.results)
