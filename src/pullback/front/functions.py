"""Functions made inside functions: closures over present values, cells, self-reference, families of local functions.

    def even(n): return n == 0 or odd(n - 1)      even captures nothing: where it reads `odd` it makes
    def odd(n): return n != 0 and even(n - 1)     odd anew, over itself (py.self); odd captures even

A captured variable is taken by value where it cannot change any more.  One that may be assigned after a function has
captured it, or that such a function assigns itself, lives in a cell for the whole function:

    n = 0                                         c = py.cell{n}; py.cell_set(c, 0)
    def add(): nonlocal n; n += 1         ->      add captures c
"""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from pullback.front.expressions import Expressions
from pullback.front.generators import OWN
from pullback.front.scope import Scope
from pullback.front.trees import Comprehension, Maker, own_nodes, stores_in
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

    def closure(self, node: Maker) -> Value:
        """A function with the present values, or the cells, of the variables it reads from around it."""
        child = self.scope.child(node)
        name = self.own_name(node)
        defaults = [self.expression(d) for d in child.defaults]
        forwards = {**self.forwards, **self.later_functions(node, child, name)}
        kept = {n: scope for n, scope in forwards.items() if n not in self.cells}
        return self.make_closure(node, child, name, kept, defaults)

    def own_name(self, node: Maker) -> str | None:
        """The variable by which a function made here calls itself."""
        name = None if isinstance(node, ast.GeneratorExp) else self.scope.selves.get(node)
        return None if name in self.cells else name

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
        around |= {"__class__"} if hasattr(child.node, "of_class") else set()
        return [n for n in sorted(_reads(child, forwards)) if n in around and n != name and n not in forwards]

    def is_own_class(self, node: ast.AST, name: str) -> bool:
        """Is it, in a function of the body of a class, the name of that class, which nothing else binds."""
        owner = getattr(node, "of_class", None)
        if owner is None or name == "__class__":
            return owner is not None
        stores = self.scope.stores.get(name, ())
        return owner.name == name and name in self.scope.locals and len(stores) == 1 and name not in self.rebound

    @cached_property
    def rebound(self) -> frozenset[str]:
        """Variables that functions made here assign."""
        return frozenset(name for child in self.scope.children for name in child.nonlocals)

    def captured_value(self, node: ast.AST, name: str) -> tuple[Value, bool]:
        if self.is_own_class(node, name):
            return self.make(node, "py.own_class", key=getattr(node, "of_class", None)), False
        if name in self.cells:
            return self.cells[name], False
        if name in self.scope.locals or name in self.captures:
            return self.raw(name)
        return self.make(node, "py.self"), False

    def later_functions(self, node: Maker, child: Scope, name: str | None) -> dict[str, Scope]:
        """Functions that the definitions right after this one give to names it reads: they may call one another."""
        if name is None:
            return {}
        found: dict[str, Scope] = {}
        for later in self.scope.followers(node):
            if f"={later.name}" not in self.flow.after[later] and later.name != name:
                found[later.name] = self.scope.child(later)
        reads = _reads(child, found)
        return {n: scope for n, scope in found.items() if n in reads}

    # ------------------------------------------------------------------------------------------------ cells

    def changing(self) -> list[str]:
        """The variables of this scope that live in cells."""
        own = self.scope.locals - self.scope.exports
        found = {name for child in self.scope.children for name in child.nonlocals & own}
        found |= {name for name in self.seen_by_handlers(self.flow.body) if name in own}
        for s, roots in _statements(self.flow.body):
            for node in own_nodes(roots):
                if isinstance(node, Maker):
                    found |= own.intersection(self.changing_captures(s, node))
                elif isinstance(node, Comprehension):
                    reads = self.scope.child(node).closure_reads
                    found |= {n for n in own & reads if f"={n}" in self.flow.during[s]}
        return sorted(found)

    def changing_captures(self, s: ast.stmt, node: Maker) -> Iterator[str]:
        """Variables that a function made in the statement captures and that may still be assigned."""
        child = self.scope.child(node)
        name = self.own_name(node)
        forwards = {**self.forwards, **self.later_functions(node, child, name)}
        for captured in self.needed(child, name, forwards):
            if f"={captured}" in self.flow.during[s] and not self.is_own_class(node, captured):
                yield captured
        if name is not None and name in child.reads and f"={name}" in self.flow.after[s]:
            yield name


    def seen_by_handlers(self, body: Sequence[ast.stmt]) -> Iterator[str]:
        """Variables that a loop in a `try` may have changed before it raised and that the other part reads.

        The body of a loop over a generator becomes a function of its own, and so may that of any loop over what is not
        seen to be something else.
        """
        for s, _ in _statements(body):
            if isinstance(s, ast.Try):
                for inner, roots in _statements(s.body):
                    comprehensions = [node for node in own_nodes(roots) if isinstance(node, Comprehension)]
                    loop = [inner.target, *inner.body] if isinstance(inner, ast.For) and _may_push(inner.iter) else []
                    stored = {name for name, _ in stores_in([*own_nodes(loop), *comprehensions])}
                    yield from stored & self.flow.head[s] - (OWN if s.finalbody else frozenset())


def _may_push(iterable: ast.expr) -> bool:
    """Whether a loop over it may be one over a generator."""
    match iterable:
        case ast.Tuple() | ast.List() | ast.Constant() | ast.ListComp() | ast.BinOp():
            return False
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return name != "range" and (name not in ("enumerate", "zip", "reversed") or any(map(_may_push, arguments)))
    return True


def _statements(body: Sequence[ast.stmt]) -> Iterator[tuple[ast.stmt, list[ast.AST]]]:
    """Each statement, at any depth, with the expressions that are its own."""
    for s in body:
        match s:
            case ast.If() | ast.While():
                yield s, [s.test]
                yield from _statements([*s.body, *s.orelse])
            case ast.For():
                yield s, [s.iter, s.target]
                yield from _statements([*s.body, *s.orelse])
            case ast.Try():
                yield s, [h.type for h in s.handlers if h.type is not None]
                inner = [inner for h in s.handlers for inner in h.body]
                yield from _statements([*s.body, *inner, *s.orelse, *s.finalbody])
            case _:
                yield s, [s]


def _reads(scope: Scope, forwards: Mapping[str, Scope]) -> set[str]:
    """Names that the function reads from around it, and those that the functions it makes itself read."""
    names = set(scope.reads)
    waiting = [n for n in names if n in forwards]
    while waiting:
        new = forwards[waiting.pop()].reads - names
        names |= new
        waiting += [n for n in new if n in forwards]
    return names
