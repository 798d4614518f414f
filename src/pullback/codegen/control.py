"""Structured control, calls and checks as basic blocks.

    r = if(c) {then} {else}      ->   br i1 %c, label %L1, label %L2 ... phi
    check{...}(ok, payload...)   ->   a branch to a cold block that notes the site and the payload and returns FAILED
"""

from __future__ import annotations

from pullback.analysis.raises import Site, site_of
from pullback.analysis.regular import extremes, is_regular
from pullback.analysis.sums import carried_sums
from pullback.codegen import abi, ahead, shared
from pullback.codegen.costs import STRIP
from pullback.codegen.loops import WIDEST, counted
from pullback.codegen.records import reserve
from pullback.codegen.scalars import cast
from pullback.codegen.threads import can_share, share
from pullback.codegen.writer import CONTEXT, LIKELY, UNLIKELY, FunctionWriter
from pullback.diagnostic import InternalError
from pullback.ir.node import Block, Op
from pullback.prims.budget import OVER_BUDGET
from pullback.types import ArrayRef, DType, Scalar

__all__ = ["RULES"]

# Work of a trip from which a few trips at the end of a loop are better done at once, under masks.
_DEAR = 40


def _if(w: FunctionWriter, op: Op) -> None:
    condition = w.only(op.operands[0])
    arms, join = [], w.label()
    labels = [w.label(), w.label()]
    w.branch(condition, *labels)
    for label, block in zip(labels, op.blocks, strict=True):
        w.begin(label)
        w.run(block)
        arms.append((w.block, w.flat(block.results)))
        w.jump(join)
    w.begin(join)
    w.bind(op.results, w.phis(w.types(op.results), *arms))


def _for(w: FunctionWriter, op: Op) -> None:
    if op.attrs.get("threads") and can_share(w, op):
        share(w, op)
        return
    (body,) = op.blocks
    n = w.only(op.operands[0])
    reserve(w, body, n)

    def step(index: str, carried: list[str]) -> list[str]:
        w.bind(body.params, [index, *carried])
        w.run(body)
        return w.flat(body.results)

    types, carried = w.types(op.operands[1:]), w.flat(op.operands[1:])
    cost = w.costs.block(body)
    if op.attrs.get("seldom"):
        before, w.compact = w.compact, True
        found = counted(w, n, types, carried, step, cost, w.module.scalar_loop())
        w.compact = before
        w.bind(op.results, found)
        return
    mark, together = w.module.scalar_loop() if op.attrs.get("as_it_is") else "", 0
    if op.attrs.get("any_order"):
        w.any_order.update(carried_sums(body) or ())
        if is_regular(body):
            mark, together = ("", _one_vector(body)) if cost >= _DEAR else (w.module.vector_loop(masked=False), 0)
    elif dtypes := extremes(body):
        together = (4 if carried else 1) * WIDEST // max(dtype.bytes for dtype in dtypes)
    elif (plan := ahead.plan(w, body)) is not None:
        w.bind(op.results, ahead.counted(w, n, types, carried, step, cost, body, plan))
        return
    w.bind(op.results, counted(w, n, types, carried, step, cost, mark, together))


def _one_vector(body: Block) -> int:
    """How many trips make a vector of the widest numbers that a loop reads and writes."""
    arrays = [v.type for op in body.walk() for v in op.operands]
    return WIDEST // max((a.dtype.bytes for a in arrays if isinstance(a, ArrayRef)), default=8)


def _while(w: FunctionWriter, op: Op) -> None:
    """The strip is a countdown in a register; what is left of it is paid for at the exit."""
    condition, body = op.blocks
    types, carried = w.types(op.operands), w.flat(op.operands)
    cost = w.costs.block(condition) + w.costs.block(body)
    length = max(1, STRIP // cost)
    before, head, inside, pay, leave = w.block, *(w.label() for _ in range(4))
    w.jump(head)
    w.begin(head)
    phis = w.open_phis(["i64", *types], before, [str(length), *carried])
    budget, *inner = phis.names
    w.bind(condition.params, inner)
    w.depth, w.often = w.depth + 1, w.often + 1
    w.run(condition)
    w.branch(w.only(condition.results[0]), inside, leave)
    end = w.block
    w.begin(inside)
    w.bind(body.params, inner)
    w.run(body)
    w.depth, w.often = w.depth - 1, w.often - 1
    following = w.flat(body.results)
    rest = w.set(f"sub nuw nsw i64 {budget}, 1")
    phis.close(w.block, [rest, *following])
    w.branch(w.set(f"icmp eq i64 {rest}, 0"), pay, head, UNLIKELY + w.module.plain_loop())
    w.begin(pay)
    w.burn(str(length * cost))
    phis.close(w.block, [str(length), *following])
    w.jump(head)
    w.begin(leave)
    results = w.phis(["i64", *types], (end, [budget, *inner]))
    used = w.set(f"sub nuw nsw i64 {length}, {results[0]}")
    w.burn(w.set(f"mul nuw nsw i64 {used}, {cost}"))
    w.bind(op.results, results[1:])


def _call(w: FunctionWriter, op: Op) -> None:
    callee = str(op.attrs["callee"])
    function = w.module.program.functions.get(callee)
    if function is None:
        raise InternalError(f"call of {callee}, which the program does not have")
    result = abi.result_type(w.machines(function.body.results))
    arguments = "".join(f", {t} {v}" for t, v in zip(w.types(op.operands), w.flat(op.operands), strict=True))
    returned = w.set(f"call {result} {abi.function_symbol(callee)}(ptr %context{arguments})")
    status = w.set(f"extractvalue {result} {returned}, 0")
    w.fail_if(w.set(f"icmp ne i32 {status}, 0"), status)
    values = [w.set(f"extractvalue {result} {returned}, {i + 1}") for i in range(len(w.types(op.results)))]
    w.bind(op.results, values)


def _error_site(site: Site) -> abi.ErrorSite:
    cause = _error_site(site.cause) if site.cause is not None else None
    return abi.ErrorSite(site.exception, site.message, site.span, site.payload, site.failure, cause, site.suppress)


def _check(w: FunctionWriter, op: Op) -> None:
    good, *payload = op.operands
    condition = w.only(good)
    if condition == "true":
        return
    if op.attrs["exception"] == OVER_BUDGET:
        _give_up(w, condition)
        return
    dtypes = tuple(v.type.dtype for v in payload if isinstance(v.type, Scalar))
    if len(dtypes) != len(payload) or len(payload) > abi.PAYLOAD_COUNT:
        raise InternalError(f"a check carries at most {abi.PAYLOAD_COUNT} numbers, not {payload}")
    site = w.site(_error_site(site_of(op)))
    bad, after = w.label(), w.label()
    w.branch(condition, after, bad, LIKELY)
    w.begin(bad)
    w.do(f"store i64 {site}, ptr {w.offset('%context', abi.SITE)}{CONTEXT}")
    for i, (value, dtype) in enumerate(zip(payload, dtypes, strict=True)):
        piece = cast(w, w.only(value), dtype, DType.F64 if dtype.is_float else DType.I64)
        type_ = "double" if dtype.is_float else "i64"
        w.do(f"store {type_} {piece}, ptr {w.offset('%context', abi.PAYLOAD + 8 * i)}{CONTEXT}")
    w.fail(abi.FAILED)
    w.begin(after)


def _give_up(w: FunctionWriter, condition: str) -> None:
    """End the call, as if there were no code for it yet, where the condition does not hold."""
    bad, after = w.label(), w.label()
    w.branch(condition, after, bad, LIKELY)
    w.begin(bad)
    w.do(f"store i64 1, ptr {w.module.helper(shared.EXCEEDED)}")
    w.fail(abi.OVER_BUDGET)
    w.begin(after)


def _budget(w: FunctionWriter, op: Op) -> None:
    w.pieces[op.result] = (w.set(f"load i64, ptr {w.module.helper(shared.BUDGET)}"),)


RULES = {"if": _if, "for": _for, "while": _while, "call": _call, "check": _check, "memory_budget": _budget}
