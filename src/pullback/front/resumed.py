"""A generator function as one that makes a function to be called for each value: where a generator is kept.

    def gen(x):                    def gen(x):
        while True:                    resumes at = 0
            yield x                    def the next(sent):
            x = x * 0.5                    nonlocal x, resumes at
                         ->                now, resumes at = resumes at, -1
                                           while True:
                                               if part == 0: part = 1
                                               elif part == 1: resumes at = 2; return x
                                               elif part == 2: x = x * 0.5; part = 0
                                               else: raise StopIteration
                                       return the next

What stands between two jumps or `yield` is a part, and `part` says which one runs next.  What an exception leaves has
ended: it resumes at no part.  Loops that neither yield nor are left from inside stay loops.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence

from pullback.front.desugar import desugared
from pullback.front.trees import Refused, ask, assign, has_yield, load, own_nodes, place, stores_in

__all__ = ["resumed"]

_NOW, _AT, _SENT, _GIVEN, _NEXT = "the part", "resumes at", "the sent", "the given", "the next"
_ENDED = -1
_STOPPED = "generator raised StopIteration"

_INSIDE_TRY = (
    "a generator that yields inside `try` or `with` cannot be kept", "it is advanced from several places",
    "step through it in one loop, or make a list of it: list(...)",
)  # fmt: skip
_DELEGATES = (
    "the value of `yield from` cannot be used in a generator that is kept", "it is advanced from several places",
    "step through it in one loop, or make a list of it: list(...)",
)  # fmt: skip
_LEAVES = (
    "a `return` inside a loop inside `try` cannot stand in a generator that is kept",
    "it is advanced from several places", "step through it in one loop, or make a list of it: list(...)",
)  # fmt: skip


def resumed(node: ast.FunctionDef) -> ast.FunctionDef:
    """The function that is called instead of a generator function, from the same tree."""
    body = desugared(node.body)
    names = sorted({name for name, _ in stores_in(own_nodes(body))} | {a.arg for a in _parameters(node.args)})
    declared = [s for s in own_nodes(body) if isinstance(s, ast.Global | ast.Nonlocal)]
    names = [name for name in names if not any(name in s.names for s in declared)]
    machine = _Machine()
    machine.block([s for s in body if s not in declared])
    machine.go(_ENDED, node)
    own = [*names, *machine.made]
    start: list[ast.stmt] = [
        *declared, ast.Nonlocal(names=[*own, _AT]), assign(_NOW, load(_AT)), assign(_AT, _number(_ENDED)),
        ast.While(test=ast.Constant(value=True), body=[machine.chosen(guarded=_may_stop(body))], orelse=[]),
    ]  # fmt: skip
    parameters = ast.arguments(
        posonlyargs=[], args=[ast.arg(arg=_SENT)], kwonlyargs=[], kw_defaults=[], defaults=[], vararg=None, kwarg=None
    )
    inner = ast.FunctionDef(name=_NEXT, args=parameters, body=start, decorator_list=[])
    # Nothing after the return runs; it lets the variables be those of the outer function.
    unset: list[ast.stmt] = [assign(name, ast.Constant(value=None)) for name in own if name not in _given(node)]
    outer = copy.copy(node)
    outer.decorator_list = []
    outer.body = [assign(_AT, _number(0)), inner, ast.Return(value=load(_NEXT)), *unset]
    for s in outer.body:
        place(s, node)
    return outer


def _parameters(a: ast.arguments) -> list[ast.arg]:
    return [*a.posonlyargs, *a.args, *a.kwonlyargs, *(x for x in (a.vararg, a.kwarg) if x is not None)]


def _given(node: ast.FunctionDef) -> set[str]:
    return {a.arg for a in _parameters(node.args)}


def _number(value: int) -> ast.Constant:
    return ast.Constant(value=value)


class _Machine:
    """The parts, in the order in which they were begun.  `made`: variables that are made up."""

    def __init__(self) -> None:
        self.parts: list[list[ast.stmt]] = [[]]
        self.here = 0
        self.made: list[str] = []
        self.loops: list[tuple[int, int]] = []  # around: the parts where `continue` and `break` go

    def chosen(self, *, guarded: bool) -> ast.stmt:
        """The choice of the part that runs now; guarded: what a part raises does not end the generator quietly."""
        ended = ast.Compare(left=load(_NOW), ops=[ast.Lt()], comparators=[_number(0)])
        stop: list[ast.stmt] = [ast.Raise(exc=_builtin("StopIteration"), cause=None)]
        parts = self.dispatch()
        if guarded:
            error = ast.Call(func=_builtin("RuntimeError"), args=[ast.Constant(value=_STOPPED)], keywords=[])
            wrong = ast.Raise(exc=error, cause=None)
            handler = ast.ExceptHandler(type=_builtin("StopIteration"), name=None, body=[wrong])
            parts = [ast.Try(body=parts, handlers=[handler], orelse=[], finalbody=[])]
        return ast.If(test=ended, body=stop, orelse=parts)

    def dispatch(self) -> list[ast.stmt]:
        rest: list[ast.stmt] = [ast.Pass()]
        for number in reversed(range(len(self.parts))):
            test = ast.Compare(left=load(_NOW), ops=[ast.Eq()], comparators=[_number(number)])
            rest = [ast.If(test=test, body=self.parts[number] or [ast.Pass()], orelse=rest)]
        return rest

    def part(self) -> int:
        """A new part, empty."""
        self.parts.append([])
        return len(self.parts) - 1

    def add(self, s: ast.stmt, at: ast.AST) -> None:
        self.parts[self.here].append(place(s, at))

    def go(self, number: int, at: ast.AST) -> None:
        """The end of this part."""
        self.add(assign(_NOW, _number(number)), at)

    def block(self, body: Sequence[ast.stmt]) -> None:
        for s in body:
            self.statement(s)
            if isinstance(s, ast.Return | ast.Break | ast.Continue):
                self.here = self.part()  # nothing gets there
        if not body:
            return

    def statement(self, s: ast.stmt) -> None:
        match s:
            case ast.Expr(value=ast.Yield() as source):
                self.give(source, s)
            case ast.Assign(value=ast.Yield() as source):
                self.give(source, s)
                self.add(ast.Assign(targets=s.targets, value=load(_SENT)), s)
            case ast.Return(value=ast.Yield() as source):
                self.give(source, s)
                self.go(_ENDED, s)
            case ast.Expr(value=ast.YieldFrom() as source):
                self.delegate(source, s)
            case ast.Assign(value=ast.YieldFrom()) | ast.Return(value=ast.YieldFrom()):
                self.refuse(s, _DELEGATES)
            case ast.Return():
                if s.value is not None:
                    self.add(ast.Expr(value=s.value), s)
                self.go(_ENDED, s)
            case ast.Break() | ast.Continue():
                self.go(self.loops[-1][isinstance(s, ast.Break)], s)
            case ast.If() if _matters(s):
                self.choice(s)
            case ast.While() if _matters(s):
                self.repeat(s)
            case ast.For() if _matters(s):
                self.step(s)
            case ast.Try() if has_yield([s]):
                self.refuse(s, _INSIDE_TRY)
            case ast.Try() if _matters(s):
                self.add(self.inside(s), s)
            case _:
                self.add(s, s)

    def refuse(self, s: ast.stmt, row: tuple[str, str, str]) -> None:
        node = next((n for n in own_nodes([s]) if isinstance(n, ast.Yield | ast.YieldFrom)), s)
        refused = Refused()
        refused.row = row
        self.add(ast.Expr(value=ast.copy_location(refused, node)), node)

    def give(self, source: ast.Yield, s: ast.stmt) -> None:
        """The value; the next part comes after it."""
        after = self.part()
        self.add(assign(_GIVEN, source.value or ast.Constant(value=None)), s)  # it may raise
        self.add(assign(_AT, _number(after)), s)
        self.add(ast.Return(value=load(_GIVEN)), s)
        self.here = after

    def choice(self, s: ast.If) -> None:
        yes, no, after = self.part(), self.part(), self.part()
        self.fork(s.test, yes, no, s)
        for start, body in ((yes, s.body), (no, s.orelse)):
            self.here = start
            self.block(body)
            self.go(after, s)
        self.here = after

    def fork(self, test: ast.expr, yes: int, no: int, at: ast.AST) -> None:
        self.add(ast.If(test=test, body=[assign(_NOW, _number(yes))], orelse=[assign(_NOW, _number(no))]), at)

    def repeat(self, s: ast.While) -> None:
        head, first, normal, after = self.part(), self.part(), self.part(), self.part()
        self.go(head, s)
        self.here = head
        self.fork(s.test, first, normal, s)
        self.trips(s, head, first, normal, after)

    def trips(self, s: ast.While | ast.For, head: int, first: int, normal: int, after: int) -> None:
        """The body of a loop and its `else`."""
        self.here = first
        self.loops.append((head, after))
        self.block(s.body)
        self.loops.pop()
        self.go(head, s)
        self.here = normal
        self.block(s.orelse)
        self.go(after, s)
        self.here = after

    def step(self, s: ast.For) -> None:
        head, first, normal, after = self.part(), self.part(), self.part(), self.part()
        iterator, item, more = (self.fresh(what) for what in ("the iterator", "the item", "more"))
        made = ast.Call(func=_builtin("iter"), args=[s.iter], keywords=[])
        self.add(assign(iterator, made), s)
        self.go(head, s)
        self.here = head
        taken = ast.Call(func=_builtin("next"), args=[load(iterator)], keywords=[])
        ended = ast.ExceptHandler(
            type=_builtin("StopIteration"), name=None, body=[assign(more, ast.Constant(value=False))]
        )
        body: list[ast.stmt] = [assign(item, taken), assign(more, ast.Constant(value=True))]
        self.add(ast.Try(body=body, handlers=[ended], orelse=[], finalbody=[]), s)
        self.fork(load(more), first, normal, s)
        self.here = first
        self.add(ast.Assign(targets=[s.target], value=load(item)), s)
        self.trips(s, head, first, normal, after)

    def delegate(self, source: ast.YieldFrom, s: ast.stmt) -> None:
        item = self.fresh("the item")
        given = ast.Expr(value=ast.Yield(value=load(item)))
        target = ast.Name(id=item, ctx=ast.Store())
        self.step(place(ast.For(target=target, iter=source.value, body=[given], orelse=[]), s))

    def fresh(self, what: str) -> str:
        self.made.append(f"{what} {len(self.made) + 1}")
        return self.made[-1]

    # -------------------------------------------------------------------------------------------------- inside try

    def inside(self, s: ast.Try) -> ast.stmt:
        """The statement, in which jumps out of it say where they go."""
        new = copy.copy(s)
        new.body, new.orelse, new.finalbody = (self.jumps(b) for b in (s.body, s.orelse, s.finalbody))
        new.handlers = [
            ast.copy_location(ast.ExceptHandler(type=h.type, name=h.name, body=self.jumps(h.body)), h)
            for h in s.handlers
        ]
        return new

    def jumps(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        return [new for s in body for new in self.jump(s)]

    def jump(self, s: ast.stmt) -> list[ast.stmt]:
        match s:
            case ast.Return():
                done: list[ast.stmt] = [] if s.value is None else [ast.Expr(value=s.value)]
                return [place(new, s) for new in (*done, assign(_NOW, _number(_ENDED)), ast.Continue())]
            case ast.Break() | ast.Continue():
                number = self.loops[-1][isinstance(s, ast.Break)]
                return [place(new, s) for new in (assign(_NOW, _number(number)), ast.Continue())]
            case ast.If():
                new = copy.copy(s)
                new.body, new.orelse = self.jumps(s.body), self.jumps(s.orelse)
                return [new]
            case ast.Try():
                return [self.inside(s)]
            case ast.For() | ast.While() if _matters(s):
                refused = Refused()
                refused.row = _LEAVES
                return [place(ast.Expr(value=ast.copy_location(refused, s)), s)]
        return [s]


def _may_stop(body: Sequence[ast.AST]) -> bool:
    """May something in the body raise StopIteration by itself."""
    names = {getattr(node, "id", getattr(node, "attr", "")) for node in own_nodes(body)}
    return bool(names & {"next", "send", "__next__", "StopIteration"})


def _builtin(name: str) -> ast.expr:
    return ask("py.import", module="builtins", name=name)


def _matters(s: ast.stmt) -> bool:
    """Does it yield, or may it leave to somewhere else: by `return`, or to a loop around it."""
    return has_yield([s]) or _leaves([s], in_loop=False)


def _leaves(body: Sequence[ast.AST], *, in_loop: bool) -> bool:
    for s in body:
        if isinstance(s, ast.Return) or (isinstance(s, ast.Break | ast.Continue) and not in_loop):
            return True
        if isinstance(s, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        inside = in_loop or isinstance(s, ast.For | ast.While)
        if _leaves(getattr(s, "body", []) if not isinstance(s, ast.expr) else [], in_loop=inside):
            return True
        others = [*getattr(s, "orelse", []), *getattr(s, "finalbody", []), *getattr(s, "handlers", [])]
        if not isinstance(s, ast.expr) and _leaves(others, in_loop=in_loop):
            return True
    return False
