"""Generator functions as functions that push: `yield` gives the value to a consumer and goes on unless told to stop.

    def gen(n):                          def gen(n, consumer, state):
        for i in range(n):                   for i in range(n):
            yield i              ->              go, state = consumer(i, state)
        return "end"                             if not go: return False, None, state
                                             return True, "end", state

So a generator that is consumed in place is a loop whose body is a call; recursion (`yield from walk(left)`) hands the
same consumer on.  What a generator cannot be is resumed from two places.

What the consumer raises is not the generator's to catch.  Inside `try` with handlers it is kept, the generator is left
as by `return`, and it is raised again at the end (py.resume).
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from pullback.front.trees import Refused, ask, assign, has_yield, load, own_nodes, place

__all__ = ["CONSUMER", "GO", "OWN", "PENDING", "STATE", "VALUE", "framed", "replaced"]

CONSUMER, STATE, GO, VALUE, PENDING = "the consumer", "the state", "goes on", "the value", "the pending"
OWN = frozenset((GO, VALUE, STATE, PENDING))  # what a generator has at its end
_ITEM, _ERROR = "the item", "the error"

_INSIDE_WITH = (
    "`yield` inside `with` is not supported", "the consumer runs here",
    "yield after the `with` statement, values kept in a list",
)  # fmt: skip
_CATCHES_ALL = (
    "`yield` inside a `try` that catches everything is not supported", "an early end would be caught as GeneratorExit",
    "name the exceptions, `except ValueError`, or use `finally`",
)  # fmt: skip
_IN_FINALLY = (
    "`yield` inside `finally` is not supported", "nobody takes the value when the generator ends early",
    "yield after the `try` statement",
)  # fmt: skip
_FROM_INSIDE_TRY = (
    "`yield from` inside `try` with `except` is not supported", "both generator and consumer may raise here",
    "write a `for` loop with `yield`, or move it out of the `try`",
)  # fmt: skip


def framed(body: list[ast.stmt], *, catches: bool) -> list[ast.stmt]:
    """The desugared statements after what is known at the start."""
    start = [assign(GO, ast.Constant(value=True)), assign(VALUE, ast.Constant(value=None))]
    start += [assign(PENDING, ast.Constant(value=None))] if catches else []
    return [*(place(s, body[0]) for s in start), *body]


def replaced(s: ast.stmt, *, guarded: bool) -> list[ast.stmt] | None:
    """A statement of a generator that yields or returns as others; None for any other; guarded: handlers are around."""
    match s:
        case ast.Expr(value=value) | ast.Assign(value=value) | ast.Return(value=ast.YieldFrom() as value) if (
            guarded and isinstance(value, ast.YieldFrom)
        ):
            return [_refusal([s], _FROM_INSIDE_TRY)]
        case ast.Expr(value=ast.Yield() as source):
            return _placed(_pushed(source, guarded), s)
        case ast.Expr(value=ast.YieldFrom() as source):
            return _placed(_delegated(source), s)
        case ast.Assign(value=ast.Yield() as source):
            nothing = ast.Assign(targets=s.targets, value=ast.Constant(value=None))
            return _placed([*_pushed(source, guarded), nothing], s)
        case ast.Assign(value=ast.YieldFrom() as source):
            return _placed([*_delegated(source), ast.Assign(targets=s.targets, value=load(VALUE))], s)
        case ast.Return(value=ast.YieldFrom() as source):
            return _placed([*_delegated(source), ast.Return(value=None)], s)
        case ast.Return():
            value = s.value or ast.Constant(value=None)
            return _placed([assign(VALUE, value), ast.Return(value=None)], s)
        case ast.Try() if has_yield(s.body) and any(_catches_all(h.type) for h in s.handlers):
            return [_refusal(s.body, _CATCHES_ALL)]
        case ast.Try() if has_yield(s.finalbody):
            return [_refusal(s.finalbody, _IN_FINALLY)]
        case ast.With() if has_yield(s.body):
            return [_refusal(s.body, _INSIDE_WITH)]
    return None


def _catches_all(kind: ast.expr | None) -> bool:
    """Whether a handler takes GeneratorExit too."""
    kinds = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    return any(k is None or (isinstance(k, ast.Name) and k.id in ("BaseException", "GeneratorExit")) for k in kinds)


def _placed(body: list[ast.stmt], s: ast.stmt) -> list[ast.stmt]:
    return [place(new, s) for new in body]


def _pushed(source: ast.Yield, guarded: bool) -> list[ast.stmt]:
    value = source.value or ast.Constant(value=None)
    pushed = ask("py.call", load(CONSUMER), load(_ITEM) if guarded else value, load(STATE), keywords=())
    push = assign(_targets(GO, STATE), place(pushed, source))
    if not guarded:
        return [push, _stop()]
    kept: list[ast.stmt] = [assign(PENDING, load(_ERROR)), assign(GO, ast.Constant(value=False))]
    handler = ast.ExceptHandler(type=ask("py.import", module="builtins", name="BaseException"), name=_ERROR, body=kept)
    return [assign(_ITEM, value), ast.Try(body=[push], handlers=[handler], orelse=[], finalbody=[]), _stop()]


def _delegated(source: ast.YieldFrom) -> list[ast.stmt]:
    asked = ask("py.delegate", source.value, load(CONSUMER), load(STATE))
    return [assign(_targets(GO, VALUE, STATE), place(asked, source)), _stop()]


def _targets(*names: str) -> ast.Tuple:
    return ast.Tuple(elts=[ast.Name(id=name, ctx=ast.Store()) for name in names], ctx=ast.Store())


def _stop() -> ast.stmt:
    leave = ast.Return(value=None)
    return ast.If(test=ast.UnaryOp(op=ast.Not(), operand=load(GO)), body=[leave], orelse=[])


def _refusal(body: Sequence[ast.stmt], row: tuple[str, str, str]) -> ast.stmt:
    """What stands for statements around the first `yield` in the body."""
    node = next(node for node in own_nodes(body) if isinstance(node, ast.Yield | ast.YieldFrom))
    refused = Refused()
    refused.row = row
    return place(ast.Expr(value=ast.copy_location(refused, node)), node)
