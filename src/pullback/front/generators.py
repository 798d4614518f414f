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

from pullback.front.trees import ask, assign, has_yield, load, own_nodes, place

__all__ = ["CONSUMER", "GO", "OWN", "PENDING", "STATE", "VALUE", "framed", "pushable", "replaced"]

CONSUMER, STATE, GO, VALUE, PENDING = "the consumer", "the state", "goes on", "the value", "the pending"
OWN = frozenset((GO, VALUE, STATE, PENDING))  # what a generator has at its end
_ITEM, _ERROR = "the item", "the error"

def pushable(body: Sequence[ast.AST]) -> bool:
    """Can a generator function with these statements push its values: an early end, and what the consumer raises, must
    not be the generator's to see, and its `yield` must stand where no value is on the way.  Others see `resumed`."""
    return all(map(_is_pushable, body))


def _is_pushable(s: ast.AST) -> bool:
    if isinstance(s, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) or not has_yield([s]):
        return True
    match s:
        case ast.Expr(value=ast.Yield() | ast.YieldFrom() as source) | ast.Return(value=ast.YieldFrom() as source):
            return source.value is None or not has_yield([source.value])
        case ast.Assign(value=ast.Yield() | ast.YieldFrom() as source):
            return not has_yield([*s.targets, *([source.value] if source.value is not None else [])])
        case ast.Try():
            return _is_pushable_try(s)
        case ast.If() | ast.While():
            return not has_yield([s.test]) and pushable([*s.body, *s.orelse])
        case ast.For():
            return not has_yield([s.target, s.iter]) and pushable([*s.body, *s.orelse])
        case ast.Match():
            guards = [case.guard for case in s.cases if case.guard is not None]
            return not has_yield([s.subject, *guards]) and all(pushable(case.body) for case in s.cases)
    return False


def _is_pushable_try(s: ast.Try) -> bool:
    if has_yield(s.finalbody):
        return False
    if has_yield(s.body) and s.handlers:
        delegates = any(isinstance(node, ast.YieldFrom) for node in own_nodes(s.body))
        if delegates or any(_catches_all(h.type) for h in s.handlers):
            return False
    return pushable([*s.body, *(inner for h in s.handlers for inner in h.body), *s.orelse])


def framed(body: list[ast.stmt], *, catches: bool) -> list[ast.stmt]:
    """The desugared statements after what is known at the start."""
    start = [assign(GO, ast.Constant(value=True)), assign(VALUE, ast.Constant(value=None))]
    start += [assign(PENDING, ast.Constant(value=None))] if catches else []
    return [*(place(s, body[0]) for s in start), *body]


def replaced(s: ast.stmt, *, guarded: bool) -> list[ast.stmt] | None:
    """A statement of a generator that yields or returns as others; None for any other; guarded: handlers are around."""
    match s:
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
