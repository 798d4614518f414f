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
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from pullback.front.source import FunctionNode

__all__ = ["Scope", "expressions_of", "own_nodes", "stores_in"]

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_LEFT_OUT = frozenset(("ctx", "op", "ops", "annotation", "id", "attr", "kind"))


def own_nodes(roots: Sequence[ast.AST]) -> list[ast.AST]:
    """The nodes of one scope in source order; of a nested function its node and what is evaluated outside its body.

    Operators and contexts are left out, and annotations of variables, which functions do not evaluate.
    """
    found: list[ast.AST] = []
    waiting = list(reversed(roots))
    while waiting:
        node = waiting.pop()
        found.append(node)
        waiting += reversed(expressions_of(node) if isinstance(node, _SCOPES) else _children(node))
    return found


def _children(node: ast.AST) -> list[ast.AST]:
    children: list[ast.AST] = []
    for name in node._fields:
        if name in _LEFT_OUT:
            continue
        value = getattr(node, name, None)
        if isinstance(value, ast.AST):
            children.append(value)
        elif isinstance(value, list):
            children += [item for item in value if isinstance(item, ast.AST)]
    return children


def expressions_of(node: FunctionNode) -> list[ast.AST]:
    """What making the function evaluates: decorators and defaults, in order."""
    decorators = [] if isinstance(node, ast.Lambda) else node.decorator_list
    return [*decorators, *node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)]


def stores_in(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, ast.AST]]:
    """Names bound by the nodes of one scope (see `own_nodes`), with the node that binds each."""
    for node in nodes:
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                yield name, node
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name, node
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                for alias in aliases:
                    yield alias.asname or alias.name.partition(".")[0], node
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name, node


@dataclass(eq=False)
class Scope:
    """The names of one function."""

    node: FunctionNode
    _children: dict[FunctionNode, Scope] = field(default_factory=dict)

    @cached_property
    def body(self) -> list[ast.stmt]:
        """The statements; a lambda is one return."""
        if not isinstance(self.node, ast.Lambda):
            return self.node.body
        return [ast.copy_location(ast.Return(value=self.node.body), self.node.body)]

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
        names = {a.arg for a in self.arguments} | set(self.stores)
        return frozenset(names - set(self.declared))

    @cached_property
    def reads(self) -> frozenset[str]:
        """Names that the function or a function nested in it reads, and that are not its own: free or global."""
        names = {n.id for n in self.nodes if isinstance(n, ast.Name)}
        names |= {name for name, kind in self.declared.items() if kind == "nonlocal"}
        for child in self.children:
            names |= child.reads - {n for n, kind in self.declared.items() if kind == "global"}
        return frozenset(names - self.locals - {n for n, kind in self.declared.items() if kind == "global"})

    @cached_property
    def children(self) -> list[Scope]:
        """Functions made directly by this one."""
        return [self.child(n) for n in self.nodes if isinstance(n, _SCOPES)]

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

    def followers(self, node: FunctionNode) -> list[ast.FunctionDef]:
        """The plain definitions that follow a plain definition without a statement between."""
        for body in _blocks(self.body):
            if node in body:
                rest = body[body.index(node) + 1 :]
                return [s for s in itertools.takewhile(_is_plain, rest) if isinstance(s, ast.FunctionDef)]
        return []

    def child(self, node: FunctionNode) -> Scope:
        if node not in self._children:
            self._children[node] = Scope(node)
        return self._children[node]

    def first_read(self, name: str) -> ast.AST:
        """A node inside the function that reads the name of an outer variable."""
        for node in self.nodes:
            if isinstance(node, ast.Name) and node.id == name:
                return node
            if isinstance(node, _SCOPES) and name in self.child(node).reads:
                return self.child(node).first_read(name)
        return self.node


def _blocks(body: list[ast.stmt]) -> Iterator[list[ast.stmt]]:
    """The lists of statements of one scope."""
    yield body
    for s in body:
        if isinstance(s, ast.If | ast.For | ast.While):
            yield from _blocks(s.body)
            yield from _blocks(s.orelse)


def _is_plain(s: ast.stmt) -> bool:
    """A `def` without decorators and defaults: making it evaluates nothing."""
    return isinstance(s, ast.FunctionDef) and not expressions_of(s)
