"""Turns a `while` that only counts into a `for`, whose number of trips is known when it begins.

    i, s = while zero, x:                      s = for n, x:
      cond (i, s): yield (lt i, n)               body (i, s):
      body (i, s):                     ->          ...
        ...                                        yield t
        yield (add i, one), t                  i = maximum n, zero

Also downwards, `while i > 0: ... i -= 1`.  The bound must not change in the loop, and one of the two ends must be a
constant that is not negative, so that their difference cannot overflow.  Ranges, residual buffers and the code
generator's vectors all know more of a `for`.
"""

from __future__ import annotations

from dataclasses import dataclass

from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.prims import get
from pullback.prims.base import Emitter
from pullback.types import I64

__all__ = ["run"]


def run(function: Function, program: Program) -> None:
    """Rewrite the counting `while` loops of the function."""
    _Counter().block(function.body)


@dataclass(frozen=True, slots=True)
class _Count:
    """The carried value at `place` steps by one from its first value until it reaches `bound`."""

    place: int
    bound: Value
    upwards: bool


class _Counter:
    def __init__(self) -> None:
        self.constants: dict[Value, int] = {}

    def block(self, block: Block) -> None:
        ops: list[Op] = []
        for op in block.ops:
            if op.name == "const" and op.results[0].type == I64:
                number = op.attrs["value"]
                assert isinstance(number, int)
                self.constants[op.results[0]] = number
            for inner in op.blocks:
                self.block(inner)
            count = self.count(op) if op.name == "while" else None
            ops += [op] if count is None else self.rewritten(op, count)
        block.ops = ops

    def count(self, loop: Op) -> _Count | None:
        cond, body = loop.blocks
        tests = [op for op in cond.ops if op.name != "const"]
        if len(tests) != 1 or tests[0].results[0] is not cond.results[0] or tests[0].name not in ("lt", "gt"):
            return None
        x, y = tests[0].operands
        if x.type != I64 or (x in cond.params) is (y in cond.params):
            return None
        counter, bound = (x, y) if x in cond.params else (y, x)
        upwards = (tests[0].name == "lt") is (counter is x)
        place = cond.params.index(counter)
        if not self.steps(body, place, 1 if upwards else -1):
            return None
        fixed = self.constants.get(loop.operands[place] if upwards else bound)
        inside = any(op.results[0] is bound for op in cond.ops)
        return None if fixed is None or fixed < 0 or inside else _Count(place, bound, upwards)

    def steps(self, body: Block, place: int, by: int) -> bool:
        """Is the next value the present one plus `by`."""
        following = body.results[place]
        maker = next((op for op in body.ops if op.results and op.results[0] is following), None)
        if maker is None or maker.name != "add" or body.params[place] not in maker.operands:
            return False
        return any(self.constants.get(v) == by for v in maker.operands)

    def rewritten(self, loop: Op, count: _Count) -> list[Op]:
        e, place = Emitter(Block(), loop.span), count.place
        first, body = loop.operands[place], loop.blocks[1]
        # Where the counter ends; the difference to where it begins is the number of trips.
        ends = get("maximum" if count.upwards else "minimum")
        last = Op(ends, [count.bound, first], [loop.results[place]], span=loop.span)
        if count.upwards:
            trips = e("sub", e("maximum", count.bound, first), first)
        else:
            trips = e("sub", e("maximum", first, count.bound), count.bound)
        index = Value(I64, body.params[place].name)
        step = Op(get("add" if count.upwards else "sub"), [first, index], [body.params[place]], span=loop.span)
        params = [index, *_without(body.params, place)]
        carried = Block(params, [step, *body.ops], _without(body.results, place))
        operands, results = [trips, *_without(loop.operands, place)], _without(loop.results, place)
        counted = Op(get("for"), operands, results, {}, [carried], loop.span)
        return [*e.block.ops, counted, last]


def _without(values: list[Value], place: int) -> list[Value]:
    return [value for i, value in enumerate(values) if i != place]
