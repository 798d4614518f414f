"""Loops as blocks with phis: rotated, cut into strips so that Ctrl-C is seen and the inner loop stays free of polls.

    for k in range(n): body        becomes        for k0 in range(0, n, STRIP):
                                                      for k in range(k0, min(k0 + STRIP, n)): body
                                                      fuel -= work;  poll if fuel < 0

The inner loop has one exit, a trip count known at its entry and no calls of its own: LLVM moves invariants out of it
and vectorises it.  A `for` of constant, small length is not cut; its work counts with what is around it.  Where the
number of trips is known while compiling, only what they need is written: one strip, whole vectors or a rest, or a few
trips one after the other.  LLVM would come to the same, but its time grows with all that it is given.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pullback.codegen.costs import STRIP
from pullback.codegen.elementary_libraries import POINTERS
from pullback.codegen.writer import FunctionWriter

__all__ = ["NOT_VECTOR", "SUMMED", "WIDEST", "counted", "repeat", "strips", "vectors", "written_out"]

_BYTES = {"double": 8, "i64": 8, "float": 4, "i32": 4}
# What LLVM makes no vectors of.
NOT_VECTOR = frozenset({"while", "for", "call", "check", "gamma", "lgamma", "polygamma", "mod", "floordiv", "fmod",
                        "remainder", "if", "ipow", "pow_overflows", "erfc", "hurwitz", *POINTERS})  # fmt: skip
WIDEST, SUMMED = 64, 32  # bytes of a vector; elements at a time where they are joined to one, as several vectors
_WRITTEN_OUT = 4  # as many trips at most, of cheap work, stand one after the other instead of a loop of vectors
_CHEAP = 24  # work of those trips
_FEW = 4  # trips of a loop whose code runs about as seldom as what is around it
_UNPAID = 64  # work of known length that counts with what is around it

Step = Callable[[str, list[str]], Sequence[str]]  # (index, carried) -> next carried
Strip = Callable[[str, str, list[str]], Sequence[str]]  # (start, end, carried) -> carried after the strip


def repeat(
    w: FunctionWriter, start: str, end: str, types: Sequence[str], carried: Sequence[str], step: Step,
    mark: str = "",
) -> list[str]:  # fmt: skip
    """Run `step` for start <= k < end, given that start < end; the carried operands after it.

    `mark`: what LLVM is told about the loop (see `ModuleWriter.scalar_loop` and `vector_loop`).
    """
    before, head, after = w.block, w.label(), w.label()
    w.jump(head)
    w.begin(head)
    phis = w.open_phis(["i64", *types], before, [start, *carried])
    index, *inner = phis.names
    often = not (start.isdigit() and end.isdigit() and int(end) - int(start) <= _FEW)
    w.depth, w.often = w.depth + 1, w.often + often
    following = list(step(index, inner))
    w.depth, w.often = w.depth - 1, w.often - often
    next_index = w.set(f"add nuw nsw i64 {index}, 1")
    phis.close(w.block, [next_index, *following])
    w.branch(w.set(f"icmp eq i64 {next_index}, {end}"), after, head, mark or w.module.plain_loop())
    latch = w.block
    w.begin(after)
    # One-armed phis keep values that leave the loop apart from it (LCSSA), as LLVM's passes want them.
    return w.phis(types, (latch, following))


def vectors(
    w: FunctionWriter, start: str, end: str, types: Sequence[str], carried: Sequence[str], step: Step,
    together: int,
) -> list[str]:  # fmt: skip
    """Run `step` for start <= k < end, independent trips: so many together, then those left under masks.

    What was stored under a mask is not forwarded to a load before it has reached the cache: a loop that adds to what it
    has just stored would wait for it.
    """
    before, w.lanes = w.lanes, True
    found = _in_vectors(w, start, end, types, carried, step, together)
    w.lanes = before
    return found


def _in_vectors(
    w: FunctionWriter, start: str, end: str, types: Sequence[str], carried: Sequence[str], step: Step,
    together: int,
) -> list[str]:  # fmt: skip
    chains = together * _BYTES.get(types[0], 0) // WIDEST if types else 1
    mark = w.module.vector_loop(masked=False, chains=chains)
    if start.isdigit() and end.isdigit():
        border = int(end) - (int(end) - int(start)) % together
        if int(start) < border:
            carried = repeat(w, start, str(border), types, carried, step, mark)
        if border < int(end):
            carried = repeat(w, str(border), end, types, carried, step, w.module.vector_loop(masked=True))
        return list(carried)
    length = w.set(f"sub nuw nsw i64 {end}, {start}")
    whole = w.set(f"and i64 {length}, -{together}")
    middle = w.set(f"add nuw nsw i64 {start}, {whole}")
    carried = _unless(
        w, f"icmp eq i64 {whole}, 0", types, carried, lambda: repeat(w, start, middle, types, carried, step, mark)
    )

    def rest() -> list[str]:
        return repeat(w, middle, end, types, carried, step, w.module.vector_loop(masked=True))

    return _unless(w, f"icmp eq i64 {middle}, {end}", types, carried, rest)


def written_out(start: str, end: str, carried: Sequence[str], step: Step, cost: int) -> list[str] | None:
    """The trips one after the other, where they are few and cheap."""
    if not (start.isdigit() and end.isdigit()):
        return None
    trips = range(int(start), int(end))
    if len(trips) > _WRITTEN_OUT or len(trips) * cost > _CHEAP:
        return None
    state = list(carried)
    for index in trips:
        state = list(step(str(index), state))
    return state


def _unless(
    w: FunctionWriter, condition: str, types: Sequence[str], values: Sequence[str], run: Callable[[], list[str]]
) -> list[str]:
    """What `run` gives, or the values where the condition holds."""
    before, start, done = w.block, w.label(), w.label()
    w.branch(w.set(condition), done, start)
    w.begin(start)
    found = run()
    last = w.block
    w.jump(done)
    w.begin(done)
    return w.phis(types, (before, values), (last, found))


def strips(
    w: FunctionWriter, n: str, types: Sequence[str], carried: Sequence[str], strip: Strip, length: int, cost: int
) -> list[str]:
    """Run `strip` over consecutive pieces of 0 <= k < n of at most `length`, paying `cost` a trip; n may be <= 0."""
    if n.isdigit() and not int(n):
        return list(carried)
    if n.isdigit() and int(n) <= length:
        found = list(strip("0", n, list(carried)))
        if int(n) * cost > _UNPAID:
            w.burn(str(int(n) * cost))
        return found
    before, head, done = w.block, w.label(), w.label()
    if not n.isdigit():
        w.branch(w.set(f"icmp sgt i64 {n}, 0"), head, done)
    else:
        w.jump(head)
    w.begin(head)
    phis = w.open_phis(["i64", *types], before, ["0", *carried])
    start, *inner = phis.names
    left = w.set(f"sub nuw nsw i64 {n}, {start}")
    trips = w.intrinsic(f"call i64 @llvm.umin.i64(i64 {left}, i64 {length})")
    end = w.set(f"add nuw nsw i64 {start}, {trips}")
    following = list(strip(start, end, inner))
    w.burn(trips if cost == 1 else w.set(f"mul nuw nsw i64 {trips}, {cost}"))
    phis.close(w.block, [end, *following])
    w.branch(w.set(f"icmp eq i64 {end}, {n}"), done, head)
    last = w.block
    w.begin(done)
    if n.isdigit():
        return w.phis(types, (last, following))
    return w.phis(types, (before, carried), (last, following))


def counted(
    w: FunctionWriter, n: str, types: Sequence[str], carried: Sequence[str], step: Step, cost: int, mark: str = "",
    together: int = 0,
) -> list[str]:  # fmt: skip
    """Run `step` for 0 <= k < n; `n` is any i64 operand, `cost` the work of a trip, `mark` as for `repeat`.

    together: the trips are independent, and so many at a time become vectors.
    """
    if n.lstrip("-").isdigit():
        if int(n) <= 0:
            return list(carried)
        if int(n) * cost <= STRIP and not together:
            return repeat(w, "0", n, types, carried, step, mark)

    def strip(start: str, end: str, inner: list[str]) -> list[str]:
        if together:
            return vectors(w, start, end, types, inner, step, together)
        return repeat(w, start, end, types, inner, step, mark)

    return strips(w, n, types, carried, strip, max(1, STRIP // cost), cost)
