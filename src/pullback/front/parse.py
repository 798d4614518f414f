"""From a Python function to untyped IR, once per code object.

    def f(x):                      def f(x):
        return x * 2.0     ->          c = py.const 2.0
                                       v = py.binary operator=* x, c
                                       return v
"""

from __future__ import annotations

import ast
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import CodeType, FunctionType

from pullback.diagnostic import CompileError, Diagnostic, Span
from pullback.front.context import Unit
from pullback.front.control import Control
from pullback.front.flow import falls
from pullback.front.generators import CONSUMER, GO, OWN, PENDING, STATE, VALUE
from pullback.front.refusals import STATEMENTS
from pullback.front.resumed import resumed
from pullback.front.scope import Scope, stepped
from pullback.front.source import Found, find, find_text
from pullback.front.state import RETURN, Binding
from pullback.front.trees import ITERABLE, RESULT, Comprehension
from pullback.ir.node import Block, Function, Value

__all__ = ["parse", "parse_text"]

_LOCK = threading.RLock()
_PARSED: dict[int, tuple[CodeType, Function]] = {}


def parse(function: FunctionType) -> Function:
    """The untyped IR of a Python function; CompileError at what cannot be compiled.

    The captures are the function's free variables, among them perhaps one that holds the function itself.
    """
    code = function.__code__
    with _LOCK, _deep_nesting(code.co_name, Span(code.co_filename, code.co_firstlineno, function=code.co_name)):
        cached = _PARSED.get(id(code))
        if cached is None:
            lowered = _lower(find(function), code.co_freevars, function.__qualname__)
            cached = _PARSED[id(code)] = (code, lowered)  # the code is kept, so its id stays its own
    return cached[1]


def parse_text(source: str, name: str, filename: str = "<text>") -> Function:
    """The untyped IR of the function `name` at the top level of a text."""
    with _LOCK, _deep_nesting(name, Span(filename, 1, function=name)):
        return _lower(find_text(source, name, filename), (), name)


def _lower(found: Found, free: Sequence[str], qualified: str) -> Function:
    captures = [(name, False) for name in free]
    unit, scope = Unit(found, getattr(found.node, "name", "<lambda>")), Scope(stepped(found.node))
    return Walk(unit, scope, qualified, captures).function([name for name in free if name in scope.nonlocals])


@contextmanager
def _deep_nesting(name: str, span: Span) -> Iterator[None]:
    """The walk recurses as the source nests."""
    try:
        yield
    except RecursionError:
        title = f"{name} nests too deeply to be compiled"
        help = "split long expressions and chains of `elif` into several functions"
        raise CompileError(Diagnostic(title, span, "", help)) from None


class Walk(Control):
    """The walk over one function, nested ones by walks of their own."""

    def __init__(
        self,
        unit: Unit,
        scope: Scope,
        qualified: str,
        captures: Sequence[tuple[str, bool]] = (),
        self_name: str | None = None,
        forwards: Mapping[str, Scope] | None = None,
    ) -> None:
        end = OWN & scope.locals if scope.generator else scope.exports
        end |= {RESULT} if scope.inline else set()
        super().__init__(unit, scope, [name for name, _ in captures], self_name, forwards, end)
        self.captured = captures
        self.qualified = qualified

    def function(self, cells: Collection[str] = ()) -> Function:
        """The function: captured values (cells for the names in `cells`), then parameters, one result."""
        self.refuse_kinds()
        parameters = self.parameters()
        names = [*(name for name, _ in self.captured), *(name for name, _, _ in parameters)]
        names += [CONSUMER, STATE] if self.scope.generator else []
        params = [Value(None, name) for name in names]
        self.builder.block = Block(params)
        unset = {name for name, maybe in self.captured if maybe}
        bound = dict(zip(names, params, strict=True))
        self.cells = {name: bound.pop(name) for name in names if name in cells}
        self.state.names = {n: Binding(value, n in unset) for n, value in bound.items()}
        self.make_cells()
        self.builder.block.results = [self.body()]
        node = self.scope.node
        attrs: dict[str, object] = {
            "python_name": self.unit.function,
            "qualified_name": self.qualified,
            "captures": tuple(name for name, _ in self.captured),
            "cells": tuple(name for name, _ in self.captured if name in self.cells),
            "parameters": tuple(parameters),
            "generator": self.scope.generator,
            "catches": PENDING in self.scope.locals,
            "self_name": self.self_name,
            "code": self.unit.found.codes.get(getattr(node, "original", node)),
        }
        if self.scope.generator and isinstance(node, ast.FunctionDef):
            attrs["resumed"] = self.resumed
        attrs["resumes"] = bool(getattr(node, "steps", False))
        return Function(self.unit.function, self.builder.block, self.unit.span(node), attrs)

    def resumed(self) -> Function:
        """A generator function as one that makes what is called for each value (see `resumed`)."""
        node = self.scope.node
        assert isinstance(node, ast.FunctionDef)
        with _LOCK, _deep_nesting(node.name, self.unit.span(node)):
            scope = Scope(resumed(node))
            walk = Walk(self.unit, scope, self.qualified, self.captured, self.self_name, self.forwards)
            return walk.function([name for name, _ in self.captured if name in self.cells])

    def make_cells(self) -> None:
        """Cells for the variables that change after functions have captured them; parameters are in them already."""
        for name in self.changing():
            given = self.state.names.pop(name, None)
            self.cells[name] = self.make(None, "py.cell", *([given.value] if given else []), name=name)
            self.cells[name].name = name

    def in_place(self, outer: Walk, iterable: Value) -> Value:
        """Lower a comprehension where it stands in another walk: the container it fills."""
        self.builder, self.guards, self.handling = outer.builder, outer.guards, outer.handling
        shared = {name for name, _ in self.captured} | self.scope.exports
        self.cells = {name: cell for name, cell in outer.cells.items() if name in shared}
        self.state.names = {name: b for name, b in outer.state.names.items() if name in shared}
        self.state.names[ITERABLE] = Binding(iterable)
        self.make_cells()
        self.block(self.flow.body, self.flow.end, ())
        for name in self.scope.exports - self.cells.keys():
            outer.state.names[name] = self.state.names[name]
        return self.state.names[RESULT].value

    def comprehension(self, node: Comprehension | ast.GeneratorExp) -> Value:
        iterable = self.expression(node.generators[0].iter)
        child = self.scope.child(node)
        around = self.scope.locals | self.captures
        captures = [(name, False) for name in sorted(child.reads & around)]
        return Walk(self.unit, child, self.qualified, captures, self.self_name, self.forwards).in_place(self, iterable)

    def body(self) -> Value:
        """Lower the statements; falling off the end returns None."""
        statements = self.flow.body
        if falls(statements):
            last = statements[-1]
            statements = [*statements, ast.copy_location(ast.Return(value=None), last)]
        self.block(statements, self.flow.end, ())
        if self.state.never is not None:
            return self.state.never
        if self.scope.generator:
            if PENDING in self.scope.locals:
                self.op(None, "py.resume", self.checked(None, PENDING), results=0)
            return self.make(None, "py.tuple", *(self.checked(None, name) for name in (GO, VALUE, STATE)))
        return self.checked(None, RETURN)

    def parameters(self) -> list[tuple[str, str, bool]]:
        a = self.scope.node.args
        plain = [(x.arg, "positional_only") for x in a.posonlyargs] + [(x.arg, "positional") for x in a.args]
        first_default = len(plain) - len(a.defaults)
        found = [(name, kind, i >= first_default) for i, (name, kind) in enumerate(plain)]
        if a.vararg is not None:
            found.append((a.vararg.arg, "var_positional", False))
        found += [
            (x.arg, "keyword_only", default is not None) for x, default in zip(a.kwonlyargs, a.kw_defaults, strict=True)
        ]
        if a.kwarg is not None:
            found.append((a.kwarg.arg, "var_keyword", False))
        return found

    def refuse_kinds(self) -> None:
        """Coroutines, wherever in the body the word that makes them so stands."""
        if isinstance(self.scope.node, ast.AsyncFunctionDef):
            self.refuse(self.scope.node, *STATEMENTS["AsyncFunctionDef"])

    def nested_function(
        self,
        scope: Scope,
        captures: Sequence[tuple[str, bool]],
        self_name: str | None,
        forwards: Mapping[str, Scope],
    ) -> Function:
        owner = getattr(scope.node, "of_class", None)
        name = getattr(getattr(scope.node, "original", scope.node), "name", "<lambda>")
        unit = self.unit if name == "<genexpr>" or " " in name else Unit(self.unit.found, name)
        if owner is not None:
            unit = replace(unit, found=replace(unit.found, owner=owner.name))
        qualified = name if owner is None else f"{owner.name}.{name}"
        walk = Walk(unit, scope, f"{self.qualified}.<locals>.{qualified}", captures, self_name, forwards)
        return walk.function([captured for captured, _ in captures if captured in self.cells])
