"""`yield` inside expressions as a statement before them, for generators that are advanced step by step.

    total = scale * (yield x) + 1.0        ->        left 1 = scale; given 2 = yield x; total = left 1 * given 2 + 1.0

What Python evaluates before the `yield` is kept in variables that are made up, so the order stays what it is.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Sequence
from typing import Any

from pullback.front.trees import ask, assign, has_yield, load, place

__all__ = ["hoisted"]

_Fresh = Callable[[str], str]
_OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.MatMult: "@", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
}  # fmt: skip
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def hoisted(body: Sequence[ast.stmt], fresh: _Fresh) -> list[ast.stmt]:
    """The statements, in which `yield` is a statement or the whole value of an assignment."""
    return [new for s in body for new in _Hoister(fresh).statement(s)]


class _Hoister:
    """The walk over one statement; `before` is what is to stand before it."""

    def __init__(self, fresh: _Fresh) -> None:
        self.fresh = fresh
        self.before: list[ast.stmt] = []

    def statement(self, s: ast.stmt) -> list[ast.stmt]:
        if isinstance(s, _SCOPES) or not has_yield([s]):
            return [s]
        new = self.rebuilt(s)
        return [*(place(b, s) for b in self.before), *(place(n, s) for n in new)]

    def rebuilt(self, s: ast.stmt) -> list[ast.stmt]:
        new = copy.copy(s)
        match s:
            case ast.Expr(value=ast.Yield() | ast.YieldFrom()):
                return [ast.Expr(value=self.source(s.value))]
            case ast.Assign(value=ast.Yield() | ast.YieldFrom()) if not has_yield(s.targets):
                new.value = self.source(s.value)  # type: ignore[attr-defined]
            case ast.AugAssign():
                return self.augmented(s)
            case ast.While():
                return [self.repeated(s)]
            case ast.Match():
                new.subject = self.expression(s.subject)  # type: ignore[attr-defined]
                new.cases = [self.case(c) for c in s.cases]  # type: ignore[attr-defined]
            case ast.Try():
                new.handlers = [self.handler(h) for h in s.handlers]  # type: ignore[attr-defined]
            case _:
                self.own_expressions(new)
        self.blocks(new)
        return [new]

    def own_expressions(self, new: ast.stmt) -> None:
        """The expressions of a statement itself, in the order of its fields, which is that of evaluation."""
        for name in ("value", "test", "iter", "exc", "cause", "msg"):
            part = getattr(new, name, None)
            if isinstance(part, ast.expr) and has_yield([part]):
                setattr(new, name, self.expression(part))
        if isinstance(new, ast.With):
            new.items = [self.item(item) for item in new.items]

    def item(self, item: ast.withitem) -> ast.withitem:
        return ast.withitem(context_expr=self.expression(item.context_expr), optional_vars=item.optional_vars)

    def blocks(self, new: ast.stmt) -> None:
        for name in ("body", "orelse", "finalbody"):
            inner = getattr(new, name, None)
            if isinstance(inner, list) and inner:
                setattr(new, name, hoisted(inner, self.fresh))

    def case(self, case: ast.match_case) -> ast.match_case:
        return ast.match_case(pattern=case.pattern, guard=case.guard, body=hoisted(case.body, self.fresh))

    def handler(self, h: ast.ExceptHandler) -> ast.ExceptHandler:
        new = ast.ExceptHandler(type=h.type, name=h.name, body=hoisted(h.body, self.fresh))
        return ast.copy_location(new, h)

    def repeated(self, s: ast.While) -> ast.stmt:
        """`while (yield x): body` as `while True: test = yield x; if test: body else: break`."""
        body, orelse = hoisted(s.body, self.fresh), hoisted(s.orelse, self.fresh)
        if not has_yield([s.test]):
            return ast.copy_location(ast.While(test=s.test, body=body, orelse=orelse), s)
        test, before = self.expression(s.test), self.before
        self.before = []
        choice = ast.If(test=test, body=body, orelse=[*orelse, ast.Break()])
        return ast.copy_location(ast.While(test=ast.Constant(value=True), body=[*before, choice], orelse=[]), s)

    def augmented(self, s: ast.AugAssign) -> list[ast.stmt]:
        """`x += yield y`: the old value of x is read first."""
        target = s.target
        if not isinstance(target, ast.Name):
            target = copy.copy(target)
            target.value = self.kept(target.value)
            if isinstance(target, ast.Subscript):
                target.slice = self.kept(target.slice)
        reading = copy.copy(target)
        reading.ctx = ast.Load()
        old = self.kept(reading)
        new = ask("py.inplace", old, self.expression(s.value), operator=_OPERATORS[type(s.op)])
        return [assign(target, place(new, s))]

    # ------------------------------------------------------------------------------------------------ expressions

    def source(self, node: ast.expr) -> ast.expr:
        """A `yield` whose own operand has none."""
        assert isinstance(node, ast.Yield | ast.YieldFrom)
        new = copy.copy(node)
        if node.value is not None:
            new.value = self.expression(node.value)
        return new

    def kept(self, node: ast.expr) -> ast.expr:
        """What is evaluated before: its value in a variable; constants stay."""
        if isinstance(node, ast.Constant):
            return node
        if isinstance(node, ast.Slice):
            new = copy.copy(node)
            new.lower, new.upper, new.step = (p and self.kept(p) for p in (node.lower, node.upper, node.step))
            return new
        if isinstance(node, ast.Starred):
            return ast.copy_location(ast.Starred(value=self.kept(node.value), ctx=ast.Load()), node)
        name = self.fresh("the value")
        self.before.append(place(assign(name, self.expression(node)), node))
        return ast.copy_location(load(name), node)

    def expression(self, node: ast.expr) -> ast.expr:
        """The expression after what is to stand before it."""
        if not has_yield([node]):
            return node
        match node:
            case ast.Yield() | ast.YieldFrom():
                name = self.fresh("the sent value")
                self.before.append(place(assign(name, self.source(node)), node))
                return ast.copy_location(load(name), node)
            case ast.NamedExpr():
                self.before.append(place(assign(node.target.id, self.expression(node.value)), node))
                return ast.copy_location(load(node.target.id), node)
            case ast.BoolOp():
                return self.decided(node, node.values, isinstance(node.op, ast.And))
            case ast.IfExp():
                return self.chosen(node)
            case ast.Compare() if len(node.ops) > 1:
                return self.expression(self.pairs(node))
        return self.in_order(node)

    def in_order(self, node: ast.expr) -> ast.expr:
        """The operands up to the last that yields are evaluated before."""
        new = copy.copy(node)
        places = list(_operands(new))
        last = max((i for i, (_, _, part) in enumerate(places) if has_yield([part])), default=-1)
        for holder, key, part in places[: last + 1]:
            moved = self.method(part) if isinstance(part, ast.Attribute) and key == "func" else self.kept(part)
            if isinstance(holder, list):
                holder[key] = moved
            else:
                setattr(holder, key, moved)
        return new

    def method(self, node: ast.Attribute) -> ast.expr:
        """What is called as a method: its object is evaluated before."""
        return ast.copy_location(ast.Attribute(value=self.kept(node.value), attr=node.attr, ctx=node.ctx), node)

    def branch(self, name: str, node: ast.expr) -> list[ast.stmt]:
        """The statements that give a variable the value of an expression."""
        inner = _Hoister(self.fresh)
        value = inner.expression(node)
        return [*inner.before, place(assign(name, value), node)]

    def decided(self, node: ast.BoolOp, values: Sequence[ast.expr], both: bool) -> ast.expr:
        """`a and b`, `a or b`: what follows is evaluated only where the value before does not decide."""
        name = self.fresh("the value")
        body = self.branch(name, values[-1])
        for value in reversed(values[:-1]):
            test: ast.expr = load(name)
            test = test if both else ast.UnaryOp(op=ast.Not(), operand=test)
            body = [*self.branch(name, value), ast.If(test=test, body=body, orelse=[])]
        self.before += [place(s, node) for s in body]
        return ast.copy_location(load(name), node)

    def chosen(self, node: ast.IfExp) -> ast.expr:
        name, test = self.fresh("the value"), self.expression(node.test)
        choice = ast.If(test=test, body=self.branch(name, node.body), orelse=self.branch(name, node.orelse))
        self.before.append(place(choice, node))
        return ast.copy_location(load(name), node)

    def pairs(self, node: ast.Compare) -> ast.expr:
        """`a < b < c` as `a < (m := b) and m < c`."""
        found: list[ast.expr] = []
        left = node.left
        for number, (op, right) in enumerate(zip(node.ops, node.comparators, strict=True)):
            following = right
            if number + 1 < len(node.ops):
                name = self.fresh("the value")
                right = ast.NamedExpr(target=ast.Name(id=name, ctx=ast.Store()), value=right)
                following = load(name)
            found.append(ast.Compare(left=left, ops=[op], comparators=[right]))
            left = following
        return place(ast.BoolOp(op=ast.And(), values=found), node)


def _operands(new: ast.expr) -> Sequence[tuple[Any, Any, ast.expr]]:
    """The operands of an expression in the order of evaluation, each with the place where it stands; the lists and
    keywords that hold them become those of this expression alone."""
    found: list[tuple[Any, Any, ast.expr]] = []
    if isinstance(new, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        first = copy.copy(new.generators[0])
        new.generators = [first, *new.generators[1:]]
        return [(first, "iter", first.iter)]
    if isinstance(new, ast.Dict):
        new.keys, new.values = list(new.keys), list(new.values)
        for i, (key, value) in enumerate(zip(new.keys, new.values, strict=True)):
            found += [(new.keys, i, key)] if key is not None else []
            found.append((new.values, i, value))
        return found
    for name in new._fields:
        part = getattr(new, name, None)
        if isinstance(part, list):
            own = [copy.copy(item) if isinstance(item, ast.keyword | ast.FormattedValue) else item for item in part]
            setattr(new, name, own)
            for i, item in enumerate(own):
                if isinstance(item, ast.keyword | ast.FormattedValue):
                    found.append((item, "value", item.value))
                elif isinstance(item, ast.expr) and not isinstance(new, ast.JoinedStr):
                    found.append((own, i, item))
        elif isinstance(part, ast.expr):
            found.append((new, name, part))
    return found
