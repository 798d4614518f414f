"""Which names a function binds, reads from around it, and declares: Python's scoping, read off the tree.

    def f(x):                 scope_of(f): locals {x, y, g}, free {abs}
        y = abs(x)
        def g(a):             scope_of(g): locals {a}, free {y, z}
            return a + y + z
        return g
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from pullback.front.desugar import CONSUMER, desugared
from pullback.front.generators import pushable
from pullback.front.resumed import resumed
from pullback.front.trees import (
    Comprehension,
    FunctionNode,
    Maker,
    expressions_of,
    function_of,
    has_yield,
    own_nodes,
    stores_in,
)  # fmt: skip

__all__ = ["Scope", "expressions_of", "own_nodes", "stepped", "stores_in"]

_MAKERS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.GeneratorExp)
_TAKERS = ("tuple", "list", "sorted")
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp)


@dataclass(eq=False)
class Scope:
    """The names of one function, or of a comprehension, which runs in place (`inline`)."""

    node: FunctionNode
    inline: bool = False
    _children: dict[ast.AST, Scope] = field(default_factory=dict)

    @cached_property
    def written(self) -> list[ast.stmt]:
        """The statements of the source; a lambda is one return."""
        if not isinstance(self.node, ast.Lambda):
            return self.node.body
        return [ast.copy_location(ast.Return(value=self.node.body), self.node.body)]

    @cached_property
    def generator(self) -> bool:
        """Whether a `yield` makes the function a generator."""
        return has_yield(self.written)

    @cached_property
    def body(self) -> list[ast.stmt]:
        """The statements in fewer kinds (see `desugar`)."""
        return desugared(self.written, generator=self.generator)

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """Every node of the body that belongs to this scope."""
        return own_nodes(self.body)

    @cached_property
    def arguments(self) -> list[ast.arg]:
        """All parameters in order, `*args` and `**kwargs` last."""
        a = self.node.args
        return [*a.posonlyargs, *a.args, *a.kwonlyargs, *(x for x in (a.vararg, a.kwarg) if x is not None)]

    @property
    def defaults(self) -> list[ast.expr]:
        """Default values in the order in which they are evaluated."""
        return [*self.node.args.defaults, *(d for d in self.node.args.kw_defaults if d is not None)]

    @cached_property
    def stores(self) -> dict[str, list[ast.AST]]:
        """Where each name is bound by the body."""
        found: dict[str, list[ast.AST]] = {}
        for name, node in stores_in(self.nodes):
            found.setdefault(name, []).append(node)
        return found

    @cached_property
    def declared(self) -> dict[str, str]:
        """Names under a `global` or `nonlocal` statement: name -> which."""
        found: dict[str, str] = {}
        for node in self.nodes:
            if isinstance(node, ast.Global | ast.Nonlocal):
                kind = "global" if isinstance(node, ast.Global) else "nonlocal"
                found.update(dict.fromkeys(node.names, kind))
        return found

    @cached_property
    def locals(self) -> frozenset[str]:
        """Names of the function's own variables."""
        names = {a.arg for a in self.arguments} | set(self.stores) | ({CONSUMER} if self.generator else set())
        return frozenset(names - set(self.declared))

    @cached_property
    def exports(self) -> frozenset[str]:
        """Of a comprehension the names that `:=` in it binds in the function around it."""
        if not self.inline:
            return frozenset()
        targets = {name for name, _ in stores_in(own_nodes([n.target for n in self.nodes if isinstance(n, ast.For)]))}
        targets |= {name for name, node in stores_in(self.nodes) if isinstance(node, ast.Name) and " " in name}
        return self.locals - targets - {a.arg for a in self.arguments}

    @cached_property
    def nonlocals(self) -> frozenset[str]:
        """Names of functions around this one that it, or one nested in it, assigns."""
        names = {n for n, kind in self.declared.items() if kind == "nonlocal" and n in self.stores}
        names |= {n for child in self.children for n in child.nonlocals if n not in self.locals}
        return frozenset(names)

    @cached_property
    def closure_reads(self) -> frozenset[str]:
        """Names read from around by the functions made here, those in comprehensions included."""
        names = {n for child in self.children for n in (child.closure_reads if child.inline else child.reads)}
        return frozenset((names - self.locals) | (names & self.exports))

    @cached_property
    def reads(self) -> frozenset[str]:
        """Names that the function or a function nested in it reads, and that are not its own: free or global."""
        names = {n.id for n in self.nodes if isinstance(n, ast.Name)}
        names |= {name for name, kind in self.declared.items() if kind == "nonlocal"}
        names |= {"__class__"} if "super" in names else set()
        for child in self.children:
            names |= child.reads - {n for n, kind in self.declared.items() if kind == "global"}
        return frozenset(names - self.locals - {n for n, kind in self.declared.items() if kind == "global"})

    @cached_property
    def children(self) -> list[Scope]:
        """Functions made directly by this one, and its comprehensions."""
        return [self.child(n) for n in self.nodes if isinstance(n, _MAKERS + _COMPREHENSIONS)]

    @cached_property
    def selves(self) -> dict[FunctionNode, str]:
        """Functions with the one name they are bound to where they are made: `def f` and `f = lambda`."""
        found: dict[FunctionNode, str] = {}
        for node in self.nodes:
            match node:
                case ast.FunctionDef(name=name, decorator_list=[]):
                    found[node] = name
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda() as function):
                    found[function] = name
                case ast.AnnAssign(target=ast.Name(id=name), value=ast.Lambda() as function):
                    found[function] = name
        return {function: name for function, name in found.items() if name in self.locals}

    def followers(self, node: Maker) -> list[ast.FunctionDef]:
        """The plain definitions that follow a plain definition without a statement between."""
        for body in _blocks(self.body):
            if node in body:
                rest = body[body.index(node) + 1 :]
                return [s for s in itertools.takewhile(_is_plain, rest) if isinstance(s, ast.FunctionDef)]
        return []

    @cached_property
    def listed(self) -> dict[ast.AST, ast.ListComp]:
        """Generator expressions of which `tuple`, `list` or `sorted` takes all: the list that this is."""
        found: dict[ast.AST, ast.ListComp] = {}
        for node in self.nodes:
            match node:
                case ast.Call(func=ast.Name(id=name), args=[ast.GeneratorExp() as given]) if self.is_taker(name):
                    whole = ast.ListComp(elt=given.elt, generators=given.generators)
                    found[given] = ast.copy_location(whole, given)
        return found

    def is_taker(self, name: str) -> bool:
        """Is it the name of a builtin that takes all items of what it is given, and not one of a variable here."""
        return name in _TAKERS and name not in self.locals

    def child(self, node: Maker | Comprehension) -> Scope:
        """The scope of a function made here or of a comprehension."""
        if node not in self._children:
            inline = isinstance(node, _COMPREHENSIONS) or node in self.listed
            written = self.listed.get(node, node)
            if isinstance(written, ast.GeneratorExp | Comprehension):
                names = [n for n, kind in self.declared.items() if kind == "global"]
                function: FunctionNode = function_of(written, names)
            else:
                function = stepped(written)
            self._children[node] = Scope(function, inline)
        return self._children[node]

    def first_read(self, name: str) -> ast.AST:
        """A node inside the function that reads the name of an outer variable."""
        for node in self.nodes:
            if isinstance(node, ast.Name) and node.id == name:
                return node
            if isinstance(node, _MAKERS + _COMPREHENSIONS) and name in self.child(node).reads:
                return self.child(node).first_read(name)
        return self.node


def stepped(node: FunctionNode) -> FunctionNode:
    """A generator function that cannot push its values as what makes objects that give them one by one; others stay."""
    if not isinstance(node, ast.FunctionDef) or not has_yield(node.body) or pushable(node.body):
        return node
    return resumed(node)


def _blocks(body: list[ast.stmt]) -> Iterator[list[ast.stmt]]:
    """The lists of statements of one scope."""
    yield body
    for s in body:
        if isinstance(s, ast.If | ast.For | ast.While | ast.Try):
            yield from _blocks(s.body)
            yield from _blocks(s.orelse)
        if isinstance(s, ast.Try):
            yield from _blocks(s.finalbody)
            for handler in s.handlers:
                yield from _blocks(handler.body)


def _is_plain(s: ast.stmt) -> bool:
    """A `def` without decorators and defaults: making it evaluates nothing."""
    return isinstance(s, ast.FunctionDef) and not expressions_of(s)
