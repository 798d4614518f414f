"""Functions made inside functions: closures over present values, self-reference, and families of local functions.

    def even(n): return n == 0 or odd(n - 1)      even captures nothing: where it reads `odd` it makes
    def odd(n): return n != 0 and even(n - 1)     odd anew, over itself (py.self); odd captures even

A captured variable is taken by value, so one that is assigned after the function is made is refused.
"""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import NoReturn

from pullback.front.expressions import Expressions
from pullback.front.scope import Scope
from pullback.front.source import FunctionNode
from pullback.ir.node import Function, Value

__all__ = ["Functions"]


class Functions(Expressions):
    """The part of the walk that makes functions."""

    @abstractmethod
    def nested_function(
        self,
        scope: Scope,
        captures: Sequence[tuple[str, bool]],
        self_name: str | None,
        forwards: Mapping[str, Scope],
    ) -> Function:
        """The untyped function of a nested scope; captures with whether each may be unset."""

    def closure(self, node: FunctionNode) -> Value:
        """A function with the present values of the variables it reads from around it."""
        child = self.scope.child(node)
        name = self.scope.selves.get(node)
        defaults = [self.expression(d) for d in child.defaults]
        forwards = {**self.forwards, **self.later_functions(node, child, name)}
        for captured in self.needed(child, name, forwards):
            self.refuse_if_assigned_later(child, captured)
        if name is not None and f"={name}" in self.following and name in child.reads:
            self.refuse_reassigned(child, name)
        return self.make_closure(node, child, name, forwards, defaults)

    def forward(self, node: ast.AST, name: str) -> Value:
        others = {n: scope for n, scope in self.forwards.items() if n != name}
        return self.make_closure(node, self.forwards[name], name, others, [])

    def make_closure(
        self,
        node: ast.AST,
        child: Scope,
        name: str | None,
        forwards: Mapping[str, Scope],
        defaults: Sequence[Value],
    ) -> Value:
        captures: list[tuple[str, bool]] = []
        operands: list[Value] = []
        for captured in self.needed(child, name, forwards):
            value, maybe = self.captured_value(node, captured)
            captures.append((captured, maybe))
            operands.append(value)
        reads = _reads(child, forwards)
        used = {n: scope for n, scope in forwards.items() if n in reads and n != name}
        function = self.nested_function(child, captures, name if name in reads else None, used)
        return self.make(node, "py.closure", *operands, *defaults, function=function)

    def needed(self, child: Scope, name: str | None, forwards: Mapping[str, Scope]) -> list[str]:
        """The variables around the function that it captures, through the functions it makes too."""
        around = self.scope.locals | self.captures | {self.self_name}
        return [n for n in sorted(_reads(child, forwards)) if n in around and n != name and n not in forwards]

    def captured_value(self, node: ast.AST, name: str) -> tuple[Value, bool]:
        if name in self.scope.locals or name in self.captures:
            return self.raw(name)
        return self.make(node, "py.self"), False

    def later_functions(self, node: FunctionNode, child: Scope, name: str | None) -> dict[str, Scope]:
        """Functions that the definitions right after this one give to names it reads: they may call one another."""
        if name is None:
            return {}
        found: dict[str, Scope] = {}
        for later in self.scope.followers(node):
            if f"={later.name}" not in self.flow.after[later] and later.name != name:
                found[later.name] = self.scope.child(later)
        reads = _reads(child, found)
        return {n: scope for n, scope in found.items() if n in reads}

    def refuse_if_assigned_later(self, child: Scope, name: str) -> None:
        if f"={name}" in self.upcoming:
            self.refuse_reassigned(child, name)

    def refuse_reassigned(self, child: Scope, name: str) -> NoReturn:
        lines = sorted({getattr(n, "lineno", 0) for n in self.scope.stores.get(name, ())})
        where = "line " + str(lines[0]) if len(lines) == 1 else "lines " + ", ".join(map(str, lines))
        self.refuse(
            child.first_read(name),
            f"the captured variable '{name}' may be assigned after the function that reads it is made",
            "read here from the function around",
            f"keep the present value as a default, `{name}={name}`, or give the later value a name of its own",
            [f"'{name}' is assigned on {where}; captured variables that change are not supported yet"],
        )


def _reads(scope: Scope, forwards: Mapping[str, Scope]) -> set[str]:
    """Names that the function reads from around it, and those that the functions it makes itself read."""
    names = set(scope.reads)
    waiting = [n for n in names if n in forwards]
    while waiting:
        new = forwards[waiting.pop()].reads - names
        names |= new
        waiting += [n for n in new if n in forwards]
    return names
