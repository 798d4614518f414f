"""A class statement in a function as what it does: its body runs in place, then the class is made.

    class P(Base):                      base 1 = Base
        scale = 2.0 * x        ->       scale of P 2 = 2.0 * x
        def area(self): ...             def area of P 3(self): ...
                                        P = py.class{name: P, names: (scale, area)}(base 1, scale of P 2, area of P 3)

Names that the body binds are variables of their own, which functions in it do not see; a name that is read before that
is a global.  Functions of the body know the class itself without a cell (py.own_class), where nothing else binds its
name.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator, Sequence

from pullback.front.trees import Refused, Unchecked, ask, assign, load, own_nodes, place

__all__ = ["made"]

_COMPOUND = (
    "this statement cannot stand in the body of a class in a function", "only definitions and assignments can",
    "compute the value before the class, or in a method",
)  # fmt: skip


def made(s: ast.ClassDef, fresh: Callable[[str], str]) -> list[ast.stmt]:
    """The statements of the body, then the one that binds the name of the class."""
    body = _Body(s, fresh)
    decorators = [(fresh("the decorator"), node) for node in s.decorator_list]
    bases = [(fresh("the base"), node) for node in s.bases]
    keywords = [(fresh("the keyword"), k) for k in s.keywords]
    before: list[ast.stmt] = [place(assign(name, node), node) for name, node in [*decorators, *bases]]
    before += [place(assign(name, k.value), k.value) for name, k in keywords]
    inside = [new for inner in s.body for new in body.statement(inner)]
    operands = [load(name) for name, _ in [*bases, *keywords]] + [body.operand(name) for name in body.names]
    value: ast.expr = ask(
        "py.class", *operands, name=s.name, key=s, bases=len(bases), keywords=tuple(str(k.arg) for _, k in keywords),
        names=tuple(body.names), annotations=tuple(body.annotations.items()), doc=ast.get_docstring(s, clean=False),
    )  # fmt: skip
    value = place(value, _head(s))
    for name, node in reversed(decorators):
        value = place(ask("py.call", load(name), value, keywords=()), node)
    last = ast.Assign(targets=[place(ast.Name(id=s.name, ctx=ast.Store()), _head(s))], value=value)
    return [*before, *inside, place(last, _head(s))]


def _head(s: ast.ClassDef) -> ast.AST:
    """The place of `class C`."""
    head = ast.Name(id=s.name, ctx=ast.Load())
    line, column = s.lineno, s.col_offset
    ending = column + len(f"class {s.name}".encode())
    head.lineno, head.col_offset, head.end_lineno, head.end_col_offset = line, column, line, ending
    return head


class _Body:
    """The walk over the body; `names`: what it has bound so far, with the variables that hold it."""

    def __init__(self, s: ast.ClassDef, fresh: Callable[[str], str]) -> None:
        self.owner = s
        self.fresh = fresh
        self.names: dict[str, str] = {}
        self.annotations: dict[str, str] = {}
        self.certain = True  # does what is bound here stay so to the end
        self.loose: set[str] = set()

    def statement(self, s: ast.stmt) -> Iterator[ast.stmt]:
        match s:
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                return
            case ast.Expr():
                yield ast.copy_location(ast.Expr(value=self.read(s.value)), s)
            case ast.Assign():
                value = self.read(s.value)
                targets = [self.target(t) for t in s.targets]
                yield ast.copy_location(ast.Assign(targets=targets, value=value), s)
            case ast.AugAssign(target=ast.Name(id=name)):
                new = copy.copy(s)
                new.value = self.read(s.value)
                new.target = ast.copy_location(ast.Name(id=self.names.get(name, name), ctx=ast.Store()), s.target)
                yield new
            case ast.AnnAssign(target=ast.Name(id=name)):
                self.annotations[name] = ast.unparse(s.annotation)
                if s.value is not None:
                    value = self.read(s.value)
                    yield ast.copy_location(ast.Assign(targets=[self.target(s.target)], value=value), s)
            case ast.FunctionDef():
                yield self.function(s)
            case ast.ClassDef():
                yield from self.inner(s)
            case ast.If() | ast.For() | ast.While() | ast.Try() | ast.With():
                yield self.compound(s)
            case _:
                refused = Refused()
                refused.row = _COMPOUND
                yield place(ast.Expr(value=ast.copy_location(refused, s)), s)

    def compound(self, s: ast.stmt) -> ast.stmt:
        """A statement around others: what they bind may not be set at the end."""
        new = copy.copy(s)
        outside, self.certain = self.certain, False
        for name in ("test", "iter"):
            if isinstance(part := getattr(s, name, None), ast.expr):
                setattr(new, name, self.read(part))
        if isinstance(new, ast.For):
            new.target = self.target(new.target)
        if isinstance(new, ast.With):
            new.items = [
                ast.withitem(self.read(i.context_expr), i.optional_vars and self.target(i.optional_vars))
                for i in new.items
            ]
        for name in ("body", "orelse", "finalbody"):
            if part := getattr(s, name, None):
                setattr(new, name, [inner for old in part for inner in self.statement(old)])
        if isinstance(new, ast.Try):
            new.handlers = [self.handler(h) for h in new.handlers]
        self.certain = outside
        return new

    def handler(self, h: ast.ExceptHandler) -> ast.ExceptHandler:
        name = h.name and self.fresh(h.name)
        known = dict(self.names)
        self.names.update({h.name: name} if h.name and name else {})
        body = [inner for old in h.body for inner in self.statement(old)] or [ast.copy_location(ast.Pass(), h)]
        if h.name:
            self.names.pop(h.name)
            self.names.update({h.name: known[h.name]} if h.name in known else {})
        return ast.copy_location(ast.ExceptHandler(type=h.type and self.read(h.type), name=name, body=body), h)

    def bound(self, name: str) -> str:
        """The variable for a name that is bound here."""
        if name not in self.names:
            self.names[name] = self.fresh(f"{name} of {self.owner.name}")
            self.loose |= set() if self.certain else {name}
        return self.names[name]

    def operand(self, name: str) -> ast.expr:
        """What the class gets under a name."""
        if name not in self.loose:
            return load(self.names[name])
        found = Unchecked()
        found.name = load(self.names[name])
        return found

    def read(self, node: ast.expr) -> ast.expr:
        """An expression in which names that the body has bound are the variables that hold them."""
        for maker in own_nodes([node]):
            if isinstance(maker, ast.Lambda | ast.GeneratorExp):
                maker.of_class = self.owner  # type: ignore[union-attr]
        names = {n for n in own_nodes([node]) if isinstance(n, ast.Name) and n.id in self.names}
        return _renamed(node, names, self.names) if names else node

    def target(self, node: ast.expr) -> ast.expr:
        """A target: names become variables."""
        match node:
            case ast.Name(id=name):
                return ast.copy_location(ast.Name(id=self.bound(name), ctx=ast.Store()), node)
            case ast.Tuple() | ast.List():
                new = copy.copy(node)
                new.elts = [self.target(part) for part in node.elts]
                return new
            case ast.Starred():
                return ast.copy_location(ast.Starred(value=self.target(node.value), ctx=ast.Store()), node)
        return self.read(node)

    def function(self, s: ast.FunctionDef) -> ast.stmt:
        new = copy.copy(s)
        new.decorator_list = [self.read(d) for d in s.decorator_list]
        new.args = copy.copy(s.args)
        new.args.defaults = [self.read(d) for d in s.args.defaults]
        new.args.kw_defaults = [d and self.read(d) for d in s.args.kw_defaults]
        new.name = self.bound(s.name)
        new.of_class, new.original = self.owner, s  # type: ignore[attr-defined]
        return new

    def inner(self, s: ast.ClassDef) -> Iterator[ast.stmt]:
        """A class in the body."""
        for new in made(s, self.fresh):
            if isinstance(new, ast.Assign) and isinstance(new.targets[0], ast.Name) and new.targets[0].id == s.name:
                new.targets = [self.target(new.targets[0])]
            yield new


def _renamed(node: ast.expr, names: set[ast.Name], variables: dict[str, str]) -> ast.expr:
    """A copy of the expression down to the names that change; functions in it stay the same trees."""
    if isinstance(node, ast.Name):
        return ast.copy_location(ast.Name(id=variables[node.id], ctx=node.ctx), node) if node in names else node
    if not any(n in names for n in own_nodes([node])):
        return node
    new = copy.copy(node)
    for name, part in ast.iter_fields(node):
        if isinstance(part, ast.AST):
            setattr(new, name, _renamed(part, names, variables))  # type: ignore[arg-type]
        elif isinstance(part, list):
            renamed: Sequence[object] = [
                _renamed(item, names, variables) if isinstance(item, ast.AST) else item  # type: ignore[arg-type]
                for item in part
            ]
            setattr(new, name, list(renamed))
    return new
