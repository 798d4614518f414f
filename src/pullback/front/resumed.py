"""A generator function as one that makes a function to be called for each value: where a generator is kept.

    def gen(x):                    def gen(x):
        while True:                    resumes at = 0
            yield x                    def the next(the sent, the thrown):
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

Each part of what stands inside `try` is in a `try` of its own, whose handlers say at which part to go on; `finally` is
a part that is reached with a note of the way on: to what follows, out by an exception, or by a jump.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from pullback.front.desugar import desugared
from pullback.front.hoisted import hoisted
from pullback.front.trees import ask, assign, has_yield, load, own_nodes, place, stores_in

__all__ = ["resumed"]

_NOW, _AT, _SENT, _THROWN, _GIVEN, _NEXT = "the part", "resumes at", "the sent", "the thrown", "the given", "the next"
_RESULT, _CAUGHT = "the result", "the caught"
_ENDED, _LEFT = -1, -2  # the end of the function, and a `return` with a value
_NORMAL, _RAISED = 0, 1  # ways on from a `finally`; others are those of jumps
_STOPPED = "generator raised StopIteration"
_NOT_BEGUN = "can't send non-None value to a just-started generator"


def resumed(node: ast.FunctionDef) -> ast.FunctionDef:
    """The function that is called instead of a generator function, from the same tree."""
    numbers = _Numbers()
    body = desugared(hoisted(node.body, numbers.fresh), stepped=True)
    names = sorted({name for name, _ in stores_in(own_nodes(body))} | _given(node))
    declared = [s for s in own_nodes(body) if isinstance(s, ast.Global | ast.Nonlocal)]
    names = [name for name in names if not any(name in s.names for s in declared)]
    machine = _Machine(numbers.fresh)
    machine.block([s for s in body if s not in declared])
    machine.go(_ENDED, node)
    own = [*names, *machine.made, *([_RESULT] if machine.returns else [])]
    start: list[ast.stmt] = [
        *declared, ast.Nonlocal(names=[*own, _AT]), *_checked(),
        assign(_NOW, load(_AT)), assign(_AT, _number(_ENDED)), *_thrown_outside(),
        ast.While(test=ast.Constant(value=True), body=[machine.chosen(guarded=_may_stop(body))], orelse=[]),
    ]  # fmt: skip
    parameters = ast.arguments(
        posonlyargs=[], args=[ast.arg(arg=_SENT), ast.arg(arg=_THROWN)], kwonlyargs=[], kw_defaults=[], defaults=[],
        vararg=None, kwarg=None,
    )  # fmt: skip
    inner = ast.FunctionDef(name=_NEXT, args=parameters, body=start, decorator_list=[])
    # Nothing after the return runs; it lets the variables be those of the outer function.
    unset: list[ast.stmt] = [assign(name, ast.Constant(value=None)) for name in own if name not in _given(node)]
    outer = copy.copy(node)
    outer.decorator_list = []
    outer.steps = True  # type: ignore[attr-defined]
    outer.body = [assign(_AT, _number(0)), inner, ast.Return(value=load(_NEXT)), *unset]
    for s in outer.body:
        place(s, node)
    return outer


class _Numbers:
    """Names that no name of Python can be."""

    def __init__(self) -> None:
        self.count = 0

    def fresh(self, what: str) -> str:
        self.count += 1
        return f"{what} of step {self.count}"


def _given(node: ast.FunctionDef) -> set[str]:
    a = node.args
    extra = [x for x in (a.vararg, a.kwarg) if x is not None]
    return {x.arg for x in (*a.posonlyargs, *a.args, *a.kwonlyargs, *extra)}


def _number(value: int) -> ast.Constant:
    return ast.Constant(value=value)


def _compare(name: str, op: ast.cmpop, value: ast.expr) -> ast.Compare:
    return ast.Compare(left=load(name), ops=[op], comparators=[value])


def _is_given(name: str) -> ast.expr:
    return _compare(name, ast.IsNot(), ast.Constant(value=None))


def _raised(name: str) -> ast.stmt:
    return ast.Raise(exc=load(name), cause=None)


def _error(kind: str, message: str) -> ast.stmt:
    made = ast.Call(func=_builtin(kind), args=[ast.Constant(value=message)], keywords=[])
    return ast.Raise(exc=made, cause=None)


def _checked() -> list[ast.stmt]:
    """What is sent to a generator that has not begun must be None."""
    test = ast.BoolOp(op=ast.And(), values=[_is_given(_SENT), _compare(_AT, ast.Eq(), _number(0))])
    return [ast.If(test=test, body=[_error("TypeError", _NOT_BEGUN)], orelse=[])]


def _thrown_outside() -> list[ast.stmt]:
    """What is thrown into a generator that has not begun, or has ended, ends it."""
    test = ast.BoolOp(op=ast.And(), values=[_is_given(_THROWN), _compare(_NOW, ast.LtE(), _number(0))])
    return [ast.If(test=test, body=[_raised(_THROWN)], orelse=[])]


@dataclass(frozen=True)
class _Catch:
    """A handler of a `try` around a part: where it goes on, and the variable that keeps the exception, if any does."""

    kind: ast.expr | None
    part: int
    kept: str
    way: str = ""  # of a `finally`: the variable that notes the way on

    def handler(self) -> ast.ExceptHandler:
        body: list[ast.stmt] = [assign(self.kept, load(_CAUGHT))] if self.kept else []
        body += [assign(self.way, _number(_RAISED))] if self.way else []
        body.append(assign(_NOW, _number(self.part)))
        kind = copy.deepcopy(self.kind) if self.kind is not None else _builtin("BaseException")
        return ast.ExceptHandler(type=kind, name=_CAUGHT if self.kept else None, body=body)


def _takes_exit(catch: _Catch) -> bool:
    """May the handler run when a generator ends that has not come to its end: then it gets a GeneratorExit."""
    kinds = catch.kind.elts if isinstance(catch.kind, ast.Tuple) else [catch.kind]
    return not all(isinstance(k, ast.Name) and k.id not in ("BaseException", "GeneratorExit") for k in kinds)


_Region = tuple[_Catch, ...]  # the handlers of a `try` around


@dataclass(frozen=True)
class _Loop:
    """A loop around: the parts where `continue` and `break` go."""

    head: int
    after: int


@dataclass
class _Final:
    """A `finally` around: its first part, the variable for the way on, and the jumps that pass through it."""

    part: int
    way: str
    jumps: dict[type[ast.stmt], int] = field(default_factory=dict)

    def number(self, kind: type[ast.stmt]) -> int:
        return self.jumps.setdefault(kind, _RAISED + 1 + len(self.jumps))


class _Machine:
    """The parts, in the order in which they were begun.  `made`: variables that are made up."""

    def __init__(self, fresh: Callable[[str], str]) -> None:
        self.make = fresh
        self.parts: list[list[ast.stmt]] = []
        self.around: list[tuple[_Region, ...]] = []  # of each part the `try` statements that it stands in
        self.regions: list[_Region] = []
        self.frames: list[_Loop | _Final] = []
        self.made: list[str] = []
        self.returns = False  # does a `return` have a value
        self.here = self.part()

    # -------------------------------------------------------------------------------------------------- the choice

    def chosen(self, *, guarded: bool) -> ast.stmt:
        """The choice of the part that runs now; guarded: what a part raises does not end the generator quietly."""
        parts = self.dispatch()
        if guarded:
            wrong = _error("RuntimeError", _STOPPED)
            handler = ast.ExceptHandler(type=_builtin("StopIteration"), name=None, body=[wrong])
            parts = [ast.Try(body=parts, handlers=[handler], orelse=[], finalbody=[])]
        return ast.If(test=_compare(_NOW, ast.Lt(), _number(0)), body=self.stopped(), orelse=parts)

    def stopped(self) -> list[ast.stmt]:
        plain: list[ast.stmt] = [ast.Raise(exc=_builtin("StopIteration"), cause=None)]
        if not self.returns:
            return plain
        value = ast.Raise(exc=ast.Call(func=_builtin("StopIteration"), args=[load(_RESULT)], keywords=[]), cause=None)
        test = ast.BoolOp(op=ast.And(), values=[_compare(_NOW, ast.Eq(), _number(_LEFT)), _is_given(_RESULT)])
        return [ast.If(test=test, body=[value], orelse=[]), *plain]

    def dispatch(self) -> list[ast.stmt]:
        """A search by halves among the parts."""
        return self.halves(0, len(self.parts))

    def halves(self, low: int, high: int) -> list[ast.stmt]:
        if high - low == 1:
            return self.wrapped(low)
        middle = (low + high) // 2
        test = _compare(_NOW, ast.Lt(), _number(middle))
        return [ast.If(test=test, body=self.halves(low, middle), orelse=self.halves(middle, high))]

    def wrapped(self, number: int) -> list[ast.stmt]:
        body = self.parts[number] or [ast.Pass()]
        for region in reversed(self.around[number]):
            body = [ast.Try(body=body, handlers=[c.handler() for c in region], orelse=[], finalbody=[])]
        return body

    # -------------------------------------------------------------------------------------------------- making

    def part(self) -> int:
        """A new part, empty, inside what is around now."""
        self.parts.append([])
        self.around.append(tuple(self.regions))
        return len(self.parts) - 1

    def add(self, s: ast.stmt, at: ast.AST) -> None:
        self.parts[self.here].append(place(s, at))

    def go(self, number: int, at: ast.AST) -> None:
        """The end of this part."""
        self.add(assign(_NOW, _number(number)), at)

    def fresh(self, what: str) -> str:
        self.made.append(self.make(what))
        return self.made[-1]

    def block(self, body: Sequence[ast.stmt]) -> None:
        for s in body:
            self.statement(s)
            if isinstance(s, ast.Return | ast.Break | ast.Continue):
                self.here = self.part()  # nothing gets there

    def statement(self, s: ast.stmt) -> None:
        match s:
            case ast.Expr(value=ast.Yield() as source):
                self.give(source, s)
            case ast.Assign(value=ast.Yield() as source):
                self.give(source, s)
                self.add(ast.Assign(targets=s.targets, value=load(_SENT)), s)
            case ast.Expr(value=ast.YieldFrom() as source):
                self.delegate(source, s)
            case ast.Assign(value=ast.YieldFrom() as source):
                result = self.delegate(source, s)
                self.add(ast.Assign(targets=s.targets, value=load(result)), s)
            case ast.Return():
                self.leave(s)
            case ast.Break() | ast.Continue():
                self.jump(type(s), s)
            case ast.If() if _matters(s):
                self.choice(s)
            case ast.While() if _matters(s):
                self.repeat(s)
            case ast.For() if _matters(s):
                self.step(s)
            case ast.Try() if _matters(s):
                self.protect(s)
            case _:
                self.add(s, s)

    # -------------------------------------------------------------------------------------------------- jumps

    def leave(self, s: ast.Return) -> None:
        """`return`: its value is that of the StopIteration."""
        if s.value is not None and not (isinstance(s.value, ast.Constant) and s.value.value is None):
            self.returns = True
            self.add(assign(_RESULT, s.value), s)
        elif self.returns or any(isinstance(frame, _Final) for frame in self.frames):
            self.returns = True
            self.add(assign(_RESULT, ast.Constant(value=None)), s)
        self.jump(ast.Return, s)

    def jump(self, kind: type[ast.stmt], at: ast.AST) -> None:
        """Out of a loop or the function, through each `finally` on the way."""
        for frame in reversed(self.frames):
            if isinstance(frame, _Final):
                self.add(assign(frame.way, _number(frame.number(kind))), at)
                return self.go(frame.part, at)
            if kind is not ast.Return:
                return self.go(frame.after if kind is ast.Break else frame.head, at)
        return self.go(_LEFT, at)

    def give(self, source: ast.Yield, s: ast.stmt) -> None:
        """The value; the next part comes after it."""
        after = self.part()
        self.add(assign(_GIVEN, source.value or ast.Constant(value=None)), s)  # it may raise
        self.hand_out(_GIVEN, after, s)
        self.add(ast.If(test=_is_given(_THROWN), body=[_raised(_THROWN)], orelse=[]), s)

    def hand_out(self, name: str, after: int, s: ast.stmt) -> None:
        """Give the value of a variable and go on at a part; what waits inside `try` is counted meanwhile."""
        waits = any(_takes_exit(catch) for region in self.regions for catch in region)
        self.add(assign(_AT, _number(after)), s)
        if waits:
            self.add(_counted(1), s)
        self.add(ast.Return(value=load(name)), s)
        self.here = after
        if waits:
            self.add(_counted(-1), s)

    # -------------------------------------------------------------------------------------------------- statements

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
        self.frames.append(_Loop(head, after))
        self.block(s.body)
        self.frames.pop()
        self.go(head, s)
        self.here = normal
        self.block(s.orelse)
        self.go(after, s)
        self.here = after

    def step(self, s: ast.For) -> None:
        head, first, normal, after = self.part(), self.part(), self.part(), self.part()
        iterator, item, more = (self.fresh(what) for what in ("the iterator", "the item", "more"))
        self.add(assign(iterator, ast.Call(func=_builtin("iter"), args=[s.iter], keywords=[])), s)
        self.go(head, s)
        self.here = head
        self.take(ast.Call(func=_builtin("next"), args=[load(iterator)], keywords=[]), item, more, "", s)
        self.fork(load(more), first, normal, s)
        self.here = first
        self.add(ast.Assign(targets=[s.target], value=load(item)), s)
        self.trips(s, head, first, normal, after)
        if isinstance(s.iter, ast.Call):  # nothing else has it
            self.add(ast.Expr(value=_asked("pullback.dropped", load(iterator))), s)

    def take(self, taken: ast.expr, item: str, more: str, result: str, s: ast.stmt) -> None:
        """The next value of an iterator, and whether there was one; if not, perhaps what it returned."""
        ended: list[ast.stmt] = [assign(more, ast.Constant(value=False))]
        if result:
            ended.append(assign(result, ast.Attribute(value=load(_CAUGHT), attr="value", ctx=ast.Load())))
        name = _CAUGHT if result else None
        handler = ast.ExceptHandler(type=_builtin("StopIteration"), name=name, body=ended)
        body: list[ast.stmt] = [assign(item, taken), assign(more, ast.Constant(value=True))]
        self.add(ast.Try(body=body, handlers=[handler], orelse=[], finalbody=[]), s)

    def delegate(self, source: ast.YieldFrom, s: ast.stmt) -> str:
        """`yield from`: what is sent and thrown goes on to the inner iterator; the variable with what it returns."""
        test, given, following, after = self.part(), self.part(), self.part(), self.part()
        whats = ("the iterator", "the item", "more", "the returned")
        iterator, item, more, result = (self.fresh(what) for what in whats)
        self.add(assign(iterator, ast.Call(func=_builtin("iter"), args=[source.value], keywords=[])), s)
        self.take(ast.Call(func=_builtin("next"), args=[load(iterator)], keywords=[]), item, more, result, s)
        self.go(test, s)
        self.here = test
        self.fork(load(more), given, after, s)
        self.here = given
        self.hand_out(item, following, s)
        passed_on = _asked("pullback.passed_on", load(iterator), load(_SENT), load(_THROWN))
        self.take(passed_on, item, more, result, s)
        self.go(test, s)
        self.here = after
        return result

    # -------------------------------------------------------------------------------------------------- try

    def protect(self, s: ast.Try) -> None:
        if s.finalbody:
            inner = copy.copy(s)
            inner.finalbody = []
            self.final([inner] if s.handlers else s.body, s)
        else:
            self.catching(s)

    def inside(self, region: _Region, body: Sequence[ast.stmt], at: ast.AST) -> None:
        """Statements whose exceptions go to handlers; what follows them is still inside."""
        self.regions.append(region)
        first = self.part()
        self.go(first, at)
        self.here = first
        self.block(body)

    def catching(self, s: ast.Try) -> None:
        after = self.part()
        otherwise = self.part() if s.orelse else after
        handlers = [
            _Catch(h.type, self.part(), self.fresh("the exception") if h.name or _reraises(h.body) else "")
            for h in s.handlers
        ]
        self.inside(tuple(handlers), s.body, s)
        self.go(otherwise, s)
        self.regions.pop()
        if s.orelse:
            self.here = otherwise
            self.block(s.orelse)
            self.go(after, s)
        for h, catch in zip(s.handlers, handlers, strict=True):
            self.here = catch.part
            if h.name:
                self.add(assign(h.name, load(catch.kept)), h)
            self.block(_with_name(h.body, catch.kept))
            if h.name:
                self.add(assign(h.name, ask("py.unbound", name=h.name)), h)
            self.go(after, s)
        self.here = after

    def final(self, body: Sequence[ast.stmt], s: ast.Try) -> None:
        after, end = self.part(), self.part()
        way, pending = self.fresh("the way"), self.fresh("the pending")
        frame = _Final(end, way)
        self.frames.append(frame)
        self.inside((_Catch(None, end, pending, way),), body, s)
        self.add(assign(way, _number(_NORMAL)), s)
        self.go(end, s)
        self.regions.pop()
        self.frames.pop()
        self.here = end
        self.block(s.finalbody)
        self.add(ast.If(test=_compare(way, ast.Eq(), _number(_RAISED)), body=[_raised(pending)], orelse=[]), s)
        for kind, number in frame.jumps.items():
            yes, no = self.part(), self.part()
            self.fork(_compare(way, ast.Eq(), _number(number)), yes, no, s)
            self.here = yes
            self.jump(kind, s)
            self.here = no
        self.go(after, s)
        self.here = after


def _with_name(body: Sequence[ast.stmt], name: str) -> list[ast.stmt]:
    """Statements of a handler in which a bare `raise` names the exception."""
    return [_named(s, name) for s in body]


def _named(s: ast.stmt, name: str) -> ast.stmt:
    if isinstance(s, ast.Raise) and s.exc is None:
        return ast.copy_location(_raised(name), s)
    if isinstance(s, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) or not _reraises([s]):
        return s
    new = copy.copy(s)
    for part in ("body", "orelse", "finalbody"):
        if inner := getattr(s, part, None):
            setattr(new, part, _with_name(inner, name))
    return new


def _reraises(body: Sequence[ast.AST]) -> bool:
    """Does a bare `raise` in the body mean the exception of the handler around it."""
    for s in body:
        if isinstance(s, ast.Raise) and s.exc is None:
            return True
        if isinstance(s, ast.stmt) and not isinstance(s, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            inner = [*getattr(s, "body", []), *getattr(s, "orelse", []), *getattr(s, "finalbody", [])]
            if _reraises(inner):
                return True
    return False


def _may_stop(body: Sequence[ast.AST]) -> bool:
    """May something in the body raise StopIteration by itself."""
    names = {getattr(node, "id", getattr(node, "attr", "")) for node in own_nodes(body)}
    return bool(names & {"next", "send", "throw", "__next__", "StopIteration"})


def _builtin(name: str) -> ast.expr:
    return ask("py.import", module="builtins", name=name)


def _asked(name: str, *operands: ast.expr) -> ast.expr:
    return ask("py.call", ask("py.builtin", name=name), *operands, keywords=())


def _counted(by: int) -> ast.stmt:
    """One more, or one less, generator waits inside `try`."""
    return ast.Expr(value=_asked("pullback.waiting", _number(by)))


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
