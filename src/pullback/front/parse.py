"""From a Python function to untyped IR, once per code object.

    def f(x):                      def f(x):
        return x * 2.0     ->          c = py.const 2.0
                                       v = py.binary operator=* x, c
                                       return v
"""

from __future__ import annotations

import ast
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import CodeType, FunctionType

from pullback.diagnostic import CompileError, Diagnostic, Span
from pullback.front.context import Unit
from pullback.front.control import Control
from pullback.front.flow import falls
from pullback.front.refusals import EXPRESSIONS, STATEMENTS
from pullback.front.scope import Scope
from pullback.front.source import Found, find, find_text
from pullback.front.state import RETURN, Binding
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
    unit = Unit(found, getattr(found.node, "name", "<lambda>"))
    return Walk(unit, Scope(found.node), qualified, captures).function()


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
        super().__init__(unit, scope, [name for name, _ in captures], self_name, forwards)
        self.captured = captures
        self.qualified = qualified

    def function(self) -> Function:
        """The function: captured values, then parameters, one result."""
        self.refuse_kinds()
        parameters = self.parameters()
        names = [*(name for name, _ in self.captured), *(name for name, _, _ in parameters)]
        params = [Value(None, name) for name in names]
        self.builder.block = Block(params)
        unset = {name for name, maybe in self.captured if maybe}
        self.state.names = {n: Binding(value, n in unset) for n, value in zip(names, params, strict=True)}
        self.builder.block.results = [self.body()]
        node = self.scope.node
        attrs: dict[str, object] = {
            "python_name": self.unit.function,
            "qualified_name": self.qualified,
            "captures": tuple(name for name, _ in self.captured),
            "parameters": tuple(parameters),
            "self_name": self.self_name,
            "code": self.unit.found.codes.get(node),
        }
        return Function(self.unit.function, self.builder.block, self.unit.span(node), attrs)

    def body(self) -> Value:
        """Lower the statements; falling off the end returns None."""
        statements = self.flow.body
        if falls(statements):
            last = statements[-1]
            statements = [*statements, ast.copy_location(ast.Return(value=None), last)]
        self.block(statements, frozenset(), ())
        if self.state.never is not None:
            return self.state.never
        return self.checked(None, RETURN)

    def parameters(self) -> list[tuple[str, str, bool]]:
        a = self.scope.node.args
        for extra, star in ((a.vararg, "*"), (a.kwarg, "**")):
            if extra is not None:
                self.refuse(
                    extra, f"`{star}{extra.arg}` parameters are not supported", "the number of arguments is not known",
                    "name each parameter, or take one tuple",
                )  # fmt: skip
        plain = [(x.arg, "positional_only") for x in a.posonlyargs] + [(x.arg, "positional") for x in a.args]
        first_default = len(plain) - len(a.defaults)
        found = [(name, kind, i >= first_default) for i, (name, kind) in enumerate(plain)]
        return found + [
            (x.arg, "keyword_only", default is not None) for x, default in zip(a.kwonlyargs, a.kw_defaults, strict=True)
        ]

    def refuse_kinds(self) -> None:
        """Coroutines and generators, wherever in the body the word that makes them so stands."""
        if isinstance(self.scope.node, ast.AsyncFunctionDef):
            self.refuse(self.scope.node, *STATEMENTS["AsyncFunctionDef"])
        for node in self.scope.nodes:
            if isinstance(node, ast.Yield | ast.YieldFrom):
                self.refuse(node, *EXPRESSIONS["Yield"])

    def nested_function(
        self,
        scope: Scope,
        captures: Sequence[tuple[str, bool]],
        self_name: str | None,
        forwards: Mapping[str, Scope],
    ) -> Function:
        name = getattr(scope.node, "name", "<lambda>")
        unit = Unit(self.unit.found, name)
        return Walk(unit, scope, f"{self.qualified}.<locals>.{name}", captures, self_name, forwards).function()
