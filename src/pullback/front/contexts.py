"""`with` as the statements that the language reference says it is, and as a loop where a generator is the manager.

    with m as x: A     ->     manager = py.entered(m)         an object with methods, if it is not pushed
                              if py.is_context(manager):             known while compiling
                                  for x in py.pushed(manager): A     one trip; jumps out of A come after it
                              else:
                                  exit = manager.__exit__; x = manager.__enter__(); failed = False
                                  try:
                                      try: A
                                      except BaseException as error:
                                          failed = True
                                          if not exit(type(error), error, None): raise
                                  finally:
                                      if not failed: exit(None, None, None)
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Sequence

from pullback.front.trees import ask, assign, load, place

__all__ = ["opened"]


def opened(s: ast.With, fresh: Callable[[str], str], *, stepped: bool = False) -> list[ast.stmt]:
    """The statements for the first manager; those for the others are `with` statements inside.

    stepped: the body is left and entered again, as that of a generator is: the manager has methods in any case.
    """
    first, *more = s.items
    body: list[ast.stmt] = s.body
    if more:
        body = [ast.copy_location(ast.With(items=more, body=s.body), s)]
    manager, value = fresh("manager"), fresh("entered")
    if first.optional_vars is not None:
        body = [place(assign(first.optional_vars, load(value)), s), *body]
    entered = assign(manager, ask("py.entered", first.context_expr, stepped=stepped))
    protected = _protected(manager, value, body, fresh)
    if stepped:
        return [place(new, s) for new in (entered, *protected)]
    choice = ast.If(
        test=ask("py.is_context", load(manager)), body=_pushed(manager, value, body, fresh), orelse=protected
    )
    return [place(new, s) for new in (entered, choice)]


def _protected(manager: str, value: str, body: list[ast.stmt], fresh: Callable[[str], str]) -> list[ast.stmt]:
    """A manager with methods."""
    leave, failed, error = fresh("exit"), fresh("failed"), fresh("error")
    told = ast.Call(func=load(leave), args=[_builtin("type", load(error)), load(error), _constant(None)], keywords=[])
    handled: list[ast.stmt] = [
        assign(failed, _constant(True)),
        ast.If(test=ast.UnaryOp(op=ast.Not(), operand=told), body=[ast.Raise(exc=None, cause=None)], orelse=[]),
    ]
    every = ask("py.import", module="builtins", name="BaseException")
    handler = ast.ExceptHandler(type=every, name=error, body=handled)
    inner = ast.Try(body=body, handlers=[handler], orelse=[], finalbody=[])
    end = ast.Expr(value=ast.Call(func=load(leave), args=[_constant(None) for _ in range(3)], keywords=[]))
    last = ast.If(test=ast.UnaryOp(op=ast.Not(), operand=load(failed)), body=[end], orelse=[])
    return [
        assign(leave, _method(manager, "__exit__")),
        assign(value, ast.Call(func=_method(manager, "__enter__"), args=[], keywords=[])),
        assign(failed, _constant(False)),
        ast.Try(body=[inner], handlers=[], orelse=[], finalbody=[last]),
    ]


def _pushed(manager: str, value: str, body: list[ast.stmt], fresh: Callable[[str], str]) -> list[ast.stmt]:
    """A generator of one value: it goes on to its end however the body ends."""
    entered, jumps = fresh("trips"), _Jumps(fresh)
    inside = jumps.without(body)
    again = ast.If(test=load(entered), body=[_runtime_error("generator didn't stop")], orelse=[])
    start: list[ast.stmt] = [again, assign(entered, _constant(True))]
    target = ast.Name(id=value, ctx=ast.Store())
    loop = ast.For(target=target, iter=ask("py.pushed", load(manager)), body=[*start, *inside], orelse=[])
    none = ast.UnaryOp(op=ast.Not(), operand=load(entered))
    never = ast.If(test=none, body=[_runtime_error("generator didn't yield")], orelse=[])
    return [*jumps.none_yet(), assign(entered, _constant(False)), loop, never, *jumps.taken()]


def _runtime_error(message: str) -> ast.stmt:
    return ast.Raise(exc=_builtin("RuntimeError", _constant(message)), cause=None)


def _builtin(name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(func=ask("py.import", module="builtins", name=name), args=list(arguments), keywords=[])


def _constant(value: object) -> ast.Constant:
    return ast.Constant(value=value)  # type: ignore[arg-type]


def _method(manager: str, name: str) -> ast.Attribute:
    return ast.Attribute(value=load(manager), attr=name, ctx=ast.Load())


class _Jumps:
    """Jumps out of a body that becomes the body of a loop: a flag for each kind, and they are made after the loop."""

    def __init__(self, fresh: Callable[[str], str]) -> None:
        kinds: tuple[type[ast.stmt], ...] = (ast.Break, ast.Continue, ast.Return)
        self.flags = {kind: fresh(kind.__name__) for kind in kinds}
        self.value = fresh("value")
        self.found: dict[type[ast.stmt], None] = {}

    def without(self, body: Sequence[ast.stmt], in_loop: bool = False) -> list[ast.stmt]:
        """A copy of the statements in which each jump ends the trip."""
        return [new for s in body for new in self.statement(s, in_loop)]

    def statement(self, s: ast.stmt, in_loop: bool) -> list[ast.stmt]:
        match s:
            case ast.Return():
                kept = assign(self.value, s.value or _constant(None))
                return [place(new, s) for new in (kept, *self.jump(ast.Return, in_loop))]
            case ast.Break() | ast.Continue() if not in_loop:
                return [place(new, s) for new in self.jump(type(s), in_loop)]
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                return [s]
        new = copy.copy(s)
        is_loop = isinstance(s, ast.For | ast.While)
        for field in ("body", "orelse", "finalbody"):
            inner = getattr(s, field, None)
            if inner:
                setattr(new, field, self.without(inner, in_loop or (is_loop and field == "body")))
        for field in ("handlers", "cases"):
            if parts := getattr(s, field, None):
                setattr(new, field, [self.part(part, in_loop) for part in parts])
        if is_loop and ast.Return in self.found:
            leave = ast.If(test=load(self.flags[ast.Return]), body=[_leave(in_loop)], orelse=[])
            return [new, place(leave, s)]
        return [new]

    def part(self, part: ast.AST, in_loop: bool) -> ast.AST:
        new = copy.copy(part)
        new.body = self.without(part.body, in_loop)  # type: ignore[attr-defined]
        return new

    def jump(self, kind: type[ast.stmt], in_loop: bool) -> list[ast.stmt]:
        self.found[kind] = None
        return [assign(self.flags[kind], _constant(True)), _leave(in_loop)]

    def none_yet(self) -> list[ast.stmt]:
        """What stands before the loop."""
        return [assign(self.flags[kind], _constant(False)) for kind in self.found]

    def taken(self) -> list[ast.stmt]:
        """The jumps that were asked for."""
        made = {kind: ast.Return(value=load(self.value)) if kind is ast.Return else kind() for kind in self.found}
        return [ast.If(test=load(self.flags[kind]), body=[jump], orelse=[]) for kind, jump in made.items()]


def _leave(in_loop: bool) -> ast.stmt:
    return ast.Break() if in_loop else ast.Continue()
