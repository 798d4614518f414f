"""Patterns of `match` as tests of values: what must hold, and what is then bound.

    Point(x=0.0, y=y)     ->     isinstance(s, Point) and hasattr(s, "x") and (a := s.x, true) and a == 0.0 ...

A value that a pattern looks into is kept in a variable of its own, so it is taken once.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from pullback.front.trees import Bound, ask, assign, load

__all__ = ["Captures", "Matching"]


@dataclass
class Captures:
    """Names with the values they are bound to where the whole pattern matches."""

    pairs: list[tuple[str, ast.expr]] = field(default_factory=list)

    def assignments(self) -> list[ast.stmt]:
        """As statements."""
        return [assign(name, value) for name, value in self.pairs]

    def bound(self) -> list[ast.expr]:
        """As an expression that is true."""
        return [bound(*self.pairs)] if self.pairs else []


def bound(*pairs: tuple[str, ast.expr]) -> Bound:
    """Assignments as a true expression."""
    node = Bound()
    node.bindings = [ast.NamedExpr(target=ast.Name(id=n, ctx=ast.Store()), value=v) for n, v in pairs]
    return node


def _builtin(name: str, *arguments: ast.expr) -> ast.Call:
    """A call of a builtin, whatever the name means to the user."""
    return ast.Call(func=ask("py.import", module="builtins", name=name), args=list(arguments), keywords=[])


@dataclass
class Matching:
    """The translation of one pattern; `fresh` makes names."""

    fresh: Callable[[str], str]
    captures: Captures = field(default_factory=Captures)

    def pattern(self, node: ast.pattern, subject: ast.expr) -> tuple[list[ast.expr], Captures]:
        """The tests in order, and the captures of the whole pattern."""
        return self.tests(node, subject), self.captures

    def tests(self, node: ast.pattern, subject: ast.expr) -> list[ast.expr]:
        match node:
            case ast.MatchValue():
                return [ast.Compare(left=subject, ops=[ast.Eq()], comparators=[node.value])]
            case ast.MatchSingleton():
                return [ast.Compare(left=subject, ops=[ast.Is()], comparators=[ast.Constant(value=node.value)])]
            case ast.MatchAs():
                found = [] if node.pattern is None else self.tests(node.pattern, subject)
                if node.name is not None:
                    self.captures.pairs.append((node.name, subject))
                return found
            case ast.MatchOr():
                return self.alternatives(node, subject)
            case ast.MatchSequence():
                return self.sequence(node, subject)
            case ast.MatchMapping():
                return self.mapping(node, subject)
            case ast.MatchClass():
                return self.of_class(node, subject)
        raise AssertionError(f"a pattern of kind {type(node).__name__}")

    def part(self, node: ast.pattern, value: ast.expr, what: str) -> list[ast.expr]:
        """A part of the subject: nothing where any value does, else a variable for it and the tests of its pattern."""
        if isinstance(node, ast.MatchAs) and node.pattern is None and node.name is None:
            return []
        name = self.fresh(what)
        return [bound((name, value)), *self.tests(node, load(name))]

    def alternatives(self, node: ast.MatchOr, subject: ast.expr) -> list[ast.expr]:
        """The first that matches binds the names; each binds the same ones."""
        outer, choices = self.captures, list[ast.expr]()
        names: dict[str, str] = {}
        for choice in node.patterns:
            self.captures = Captures()
            tests = self.tests(choice, subject)
            kept = [(names.setdefault(name, self.fresh(name)), value) for name, value in self.captures.pairs]
            tests += [bound(*kept)] if kept else []
            choices.append(_all(tests))
        self.captures = outer
        self.captures.pairs += [(name, load(kept_as)) for name, kept_as in names.items()]
        return [ast.BoolOp(op=ast.Or(), values=choices)]

    def sequence(self, node: ast.MatchSequence, subject: ast.expr) -> list[ast.expr]:
        count = len(node.patterns)
        star = next((i for i, p in enumerate(node.patterns) if isinstance(p, ast.MatchStar)), None)
        least, most = (count, count) if star is None else (count - 1, None)
        found: list[ast.expr] = [ask("py.is_sequence", subject, least=least, most=most)]
        for i, part in enumerate(node.patterns):
            if isinstance(part, ast.MatchStar):
                if part.name is not None:
                    stop = None if i == count - 1 else ast.Constant(value=i + 1 - count)
                    rest = ast.Slice(lower=ast.Constant(value=i), upper=stop)
                    taken = ast.Subscript(value=subject, slice=rest, ctx=ast.Load())
                    self.captures.pairs.append((part.name, _builtin("list", taken)))
                continue
            index = ast.Constant(value=i if star is None or i < star else i - count)
            found += self.part(part, ast.Subscript(value=subject, slice=index, ctx=ast.Load()), "item")
        return found

    def mapping(self, node: ast.MatchMapping, subject: ast.expr) -> list[ast.expr]:
        found: list[ast.expr] = [ask("py.is_mapping", subject)]
        for key in node.keys:
            found.append(ast.Compare(left=key, ops=[ast.In()], comparators=[subject]))
        for key, part in zip(node.keys, node.patterns, strict=True):
            found += self.part(part, ast.Subscript(value=subject, slice=key, ctx=ast.Load()), "entry")
        if node.rest is not None:
            self.captures.pairs.append((node.rest, ask("py.match_rest", subject, *node.keys)))
        return found

    def of_class(self, node: ast.MatchClass, subject: ast.expr) -> list[ast.expr]:
        found: list[ast.expr] = [_builtin("isinstance", subject, node.cls)]
        for position, part in enumerate(node.patterns):
            found += self.part(part, ask("py.match_position", subject, node.cls, position=position), "field")
        for name, part in zip(node.kwd_attrs, node.kwd_patterns, strict=True):
            found.append(_builtin("hasattr", subject, ast.Constant(value=name)))
            found += self.part(part, ast.Attribute(value=subject, attr=name, ctx=ast.Load()), "field")
        return found


def _all(tests: Sequence[ast.expr]) -> ast.expr:
    """All the tests as one."""
    if not tests:
        return ast.Constant(value=True)
    return tests[0] if len(tests) == 1 else ast.BoolOp(op=ast.And(), values=list(tests))
