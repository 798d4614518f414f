"""How many trips to go before the next snapshot: Griewank and Walther's revolve, in leaves of several trips.

    advance(remaining=10, leaf=1, slots=3)     ->     1    3 snapshots and 2 repetitions reach binomial(5, 3) = 10 trips

With m leaves ahead and s snapshots, r is the least number of repetitions with binomial(s + r, s) >= m.  What follows
the next snapshot has s - 1 snapshots and may take binomial(s - 1 + r, r) leaves; the rest comes before it.
"""

from __future__ import annotations

from pullback.ir.node import Block, Function, Value
from pullback.prims.base import Emitter, get
from pullback.types import I64

__all__ = ["ADVANCE", "FEWEST", "advance_function"]

ADVANCE = "pullback.advance"
FEWEST = 4  # snapshots: with fewer, repetitions would nest deeply
MOST = 1 << 20  # so that no product overflows


def advance_function() -> Function:
    """(remaining, leaf, slots) -> trips; less than `remaining`, which is more than `leaf`."""
    body = Block([Value(I64, n) for n in ("remaining", "leaf", "slots")])
    remaining, leaf, slots = body.params
    e = Emitter(body)
    one = e.integer(1)
    s = e("minimum", e("maximum", slots, e.integer(FEWEST)), e.integer(MOST))
    leaves = e("floordiv", e("sub", e("add", remaining, leaf), one), leaf)
    r, reach = _reach(e, s, leaves)
    after = e("floordiv", e("mul", reach, s), e("add", s, r))
    before = e("maximum", e("sub", leaves, after), one)
    body.results = [e("mul", before, leaf)]
    return Function(ADVANCE, body)


def _reach(e: Emitter, s: Value, leaves: Value) -> tuple[Value, Value]:
    """The least r with binomial(s + r, s) >= leaves, and that binomial."""
    cond, body = (Block([Value(I64, "r"), Value(I64, "reach")]) for _ in range(2))
    cond.results = [Emitter(cond)("lt", cond.params[1], leaves)]
    b = Emitter(body)
    r = b("add", body.params[0], b.integer(1))
    body.results = [r, b("floordiv", b("mul", body.params[1], b("add", s, r)), r)]
    inits = [e.integer(1), e("add", s, e.integer(1))]
    loop = e.append(get("while"), inits, blocks=[cond, body], types=[I64, I64])
    return loop.results[0], loop.results[1]
