"""Statements that say in one word what others say in several become the others; all else stays the same tree.

    match p:                            subject 1 = p
        case (x, 0): A        ->        if is_sequence(subject 1) and (item 2 := subject 1[1], true) and item 2 == 0:
        case _: B                           x = subject 1[0]; A
                                        else: B

    while (x := f()): A       ->        while True: if (x := f()): A
                                                    else: break

Generators see `generators`, context managers `contexts`, classes `classes`.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Sequence

from pullback.front import classes, contexts, generators
from pullback.front.generators import CONSUMER, GO, STATE, VALUE
from pullback.front.matching import Matching
from pullback.front.trees import assign, has_yield, load, own_nodes, place, stores_in

__all__ = ["CONSUMER", "GO", "STATE", "VALUE", "desugared"]

_LISTS = ("orelse", "finalbody")


def desugared(body: list[ast.stmt], *, generator: bool = False, stepped: bool = False) -> list[ast.stmt]:
    """The statements of one function in fewer kinds; generator: it pushes its values, stepped: see `resumed`."""
    desugarer = _Desugarer(generator, stepped)
    found = desugarer.block(body)
    return generators.framed(found, catches=desugarer.catches) if generator else found


class _Desugarer:
    """The walk over one function's statements; it numbers the variables that it makes up."""

    def __init__(self, generator: bool, stepped: bool) -> None:
        self.generator = generator
        self.stepped = stepped
        self.count = 0
        self.guarded = False  # are handlers around
        self.catches = False  # does a generator yield inside `try` with handlers

    def fresh(self, what: str) -> str:
        """A name that no name of Python can be."""
        self.count += 1
        return f"{what} {self.count}"

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """The same list where nothing changes."""
        found = [new for s in body for new in self.statement(s)]
        return body if _unchanged(found, body) else found

    def statement(self, s: ast.stmt) -> Iterator[ast.stmt]:
        if isinstance(s, ast.FunctionDef | ast.AsyncFunctionDef):
            yield s
            return
        if isinstance(s, ast.ClassDef):
            yield from classes.made(s, self.fresh)
            return
        if self.generator:
            replaced = generators.replaced(s, guarded=self.guarded)
            if replaced is not None:
                self.catches = self.catches or self.guarded
                yield from replaced
                return
        match s:
            case ast.Match():
                yield from self.match(s)
            case ast.With():
                yield from self.block(contexts.opened(s, self.fresh, stepped=self.stepped and has_yield(s.body)))
            case ast.While() if _assigns(s.test):
                yield from self.rotated(s)
            case _:
                yield self.rebuilt(s)

    def rebuilt(self, s: ast.stmt) -> ast.stmt:
        """The statement with its inner statements desugared."""
        parts: dict[str, Sequence[ast.AST]] = {}
        around, self.guarded = self.guarded, self.guarded or bool(getattr(s, "handlers", ()))
        parts["body"] = self.block(getattr(s, "body", []))
        self.guarded = around
        parts.update((name, self.block(getattr(s, name))) for name in _LISTS if getattr(s, name, None))
        if isinstance(s, ast.Try):
            parts["handlers"] = [self.handler(h) for h in s.handlers]
        if all(_unchanged(new, getattr(s, name, [])) for name, new in parts.items()):
            return s
        new = copy.copy(s)
        for name, inner in parts.items():
            setattr(new, name, list(inner))
        return new

    def handler(self, h: ast.ExceptHandler) -> ast.ExceptHandler:
        body = self.block(h.body)
        return h if body is h.body else ast.copy_location(ast.ExceptHandler(type=h.type, name=h.name, body=body), h)

    def rotated(self, s: ast.While) -> Iterator[ast.stmt]:
        """`while (x := f()): body` as `while True: if (x := f()): body else: break`, so that the body sees x."""
        body, orelse = self.block(s.body), self.block(s.orelse)
        leave: list[ast.stmt] = [ast.Break()]
        ended = self.fresh("ended") if orelse and _breaks(body) else ""
        if ended:
            leave.insert(0, assign(ended, ast.Constant(value=True)))
            yield place(assign(ended, ast.Constant(value=False)), s)
        choice = ast.If(test=s.test, body=body, orelse=[place(node, s.test) for node in leave])
        yield place(ast.While(test=ast.Constant(value=True), body=[place(choice, s)], orelse=[]), s)
        if ended:
            yield place(ast.If(test=load(ended), body=orelse, orelse=[]), s)
        elif orelse:
            yield from orelse

    def match(self, s: ast.Match) -> Iterator[ast.stmt]:
        """A chain of `if`, one for each case."""
        subject = self.fresh("subject")
        yield place(assign(subject, s.subject), s)
        chain: list[ast.stmt] = []
        for case in reversed(s.cases):
            tests, captures = Matching(self.fresh).pattern(case.pattern, load(subject))
            body = self.block(case.body)
            if case.guard is not None:
                tests = [*tests, *captures.bound(), case.guard]
            else:
                body = [*(place(a, case.pattern) for a in captures.assignments()), *body]
            if not tests:
                chain = body
                continue
            test = tests[0] if len(tests) == 1 else ast.BoolOp(op=ast.And(), values=tests)
            chain = [ast.If(test=place(test, case.pattern), body=body, orelse=chain)]
            place(chain[0], case.pattern)
        yield from chain


def _unchanged(new: Sequence[ast.AST], old: Sequence[ast.AST]) -> bool:
    return len(new) == len(old) and all(a is b for a, b in zip(new, old, strict=True))


def _assigns(test: ast.expr) -> bool:
    return any(True for _ in stores_in(own_nodes([test])))


def _breaks(body: Sequence[ast.AST]) -> bool:
    """Whether a `break` of the loop around lies in the body."""
    for s in body:
        if isinstance(s, ast.Break):
            return True
        inner = [] if isinstance(s, ast.For | ast.While | ast.AsyncFor) else list(getattr(s, "body", []))
        if isinstance(s, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        inner += [*getattr(s, "orelse", []), *getattr(s, "finalbody", []), *getattr(s, "handlers", [])]
        if _breaks(inner):
            return True
    return False
