"""What may happen next, by a backward walk over the statements of one function.

Two kinds of facts are kept, each a string: `x` says that x may be read before it is set again (it is live), `=x` that x
may still be assigned.  `while`, `for` and jumps are followed; code after a jump contributes nothing.

    for i in range(n):     after: {"total"}         total is carried through the loop, `t` and `i` are not
        t = i * i
        total += t
    return total
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pullback.front.scope import Scope, own_nodes, stores_in
from pullback.front.source import FunctionNode

__all__ = ["Facts", "Flow", "Known", "breaks", "endless", "falls", "jumps", "reachable", "returns"]

Facts = frozenset[str]
NOTHING: Facts = frozenset()
Loop = ast.While | ast.For


class Known(ast.expr):
    """A condition whose value is at hand: made by the front end, never by the parser."""

    _fields = ()


@dataclass(frozen=True, slots=True)
class _Exits:
    """Facts where a jump lands."""

    after_break: Facts = NOTHING
    after_continue: Facts = NOTHING


@dataclass(eq=False)
class Flow:
    """Facts at the statements of one function.

    `after[s]` after a statement; `during[s]` while its expressions (the test of an `if`, the iterable of a `for`) are
    evaluated; `head[loop]` at the top of each trip; `exit[loop]` where it ends, before `else`.
    """

    scope: Scope
    body: list[ast.stmt] = field(default_factory=list)  # what control can reach, statements with blocks rebuilt
    after: dict[ast.AST, Facts] = field(default_factory=dict)
    during: dict[ast.AST, Facts] = field(default_factory=dict)
    head: dict[ast.AST, Facts] = field(default_factory=dict)
    exit: dict[ast.AST, Facts] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._reads: dict[ast.AST, Facts] = {}
        self.body = reachable(self.scope.body)
        self._block(self.body, NOTHING, _Exits(), True)

    def _block(self, body: Sequence[ast.stmt], facts: Facts, exits: _Exits, keep: bool) -> Facts:
        for statement in reversed(body):
            if keep:
                self.after[statement] = facts
            facts = self._statement(statement, facts, exits, keep)
        return facts

    def _statement(self, s: ast.stmt, out: Facts, exits: _Exits, keep: bool) -> Facts:
        match s:
            case ast.Return() | ast.Raise():
                return self._through(s, [s], NOTHING, keep)
            case ast.Break():
                return exits.after_break
            case ast.Continue():
                return exits.after_continue
            case ast.If():
                inner = self._block(s.body, out, exits, keep) | self._block(s.orelse, out, exits, keep)
                return self._through(s, [s.test], inner, keep)
            case ast.While():
                return self._loop(s, out, exits, keep)
            case ast.For():
                return self._through(s, [s.iter], self._loop(s, out, exits, keep), keep)
            case _:
                return self._through(s, [s], out, keep)

    def _loop(self, s: Loop, out: Facts, exits: _Exits, keep: bool) -> Facts:
        """Facts at the head.  One walk finds them: a path that passes the head twice adds nothing new."""
        exit_ = self._block(s.orelse, out, exits, keep)
        first = self._block(s.body, NOTHING, _Exits(out, NOTHING), False)
        normal = NOTHING if endless(s) else exit_
        if isinstance(s, ast.While):
            head = self._through(s, [s.test], first | normal, False)
        else:
            head = self._through(s, [s.target], first, False) | normal
        if keep:
            self._block(s.body, head, _Exits(out, head), True)
            self.head[s] = self.during[s] = head
            self.exit[s] = exit_ | (out if breaks(s) else NOTHING)
        return head

    def _through(self, s: ast.stmt, roots: Sequence[ast.AST], out: Facts, keep: bool) -> Facts:
        """Facts before the evaluation of `roots`, which belong to statement `s`."""
        stores = {name for name, node in self._stores(roots) if name in self.scope.locals}
        assigned = {f"={name}" for name in stores}
        if keep:
            self.during[s] = out | assigned
        killed = {name for name, node in self._stores(roots) if name in stores and not _walrus(node, roots)}
        reads = NOTHING.union(*(self.reads(root) for root in roots))
        return (out - killed) | assigned | reads

    def _stores(self, roots: Sequence[ast.AST]) -> list[tuple[str, ast.AST]]:
        return list(stores_in(roots))

    def reads(self, root: ast.AST) -> Facts:
        """Names that evaluating the node reads, captures of functions it makes included."""
        found = self._reads.get(root)
        if found is None:
            names: set[str] = set()
            for node in own_nodes([root]):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                    names.add(node.id)
                elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                    names.add(node.target.id)
                elif isinstance(node, FunctionNode):
                    names |= self.scope.child(node).reads - {self.scope.selves.get(node, "")}
            found = self._reads[root] = frozenset(names)
        return found


def _walrus(node: ast.AST, roots: Sequence[ast.AST]) -> bool:
    """Whether the name is bound by `:=`, which may not be reached."""
    return any(isinstance(n, ast.NamedExpr) and n.target is node for n in own_nodes(roots))


def reachable(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """The statements that control can reach; the parser's own trees stay as they are."""
    found: list[ast.stmt] = []
    for s in body:
        match s:
            case ast.If():
                s = ast.If(test=s.test, body=reachable(s.body), orelse=reachable(s.orelse), **_place(s))
            case ast.While():
                s = ast.While(test=s.test, body=reachable(s.body), orelse=reachable(s.orelse), **_place(s))
            case ast.For():
                inner, orelse = reachable(s.body), reachable(s.orelse)
                s = ast.For(target=s.target, iter=s.iter, body=inner, orelse=orelse, **_place(s))
        found.append(s)
        if not _passes(s):
            break
    return found


def _place(s: ast.stmt) -> dict[str, Any]:
    return {
        "lineno": s.lineno, "col_offset": s.col_offset, "end_lineno": s.end_lineno, "end_col_offset": s.end_col_offset,
    }  # fmt: skip


def _within(body: Sequence[ast.AST], kinds: tuple[type[ast.AST], ...], *, loops: bool) -> bool:
    """Whether a statement of `kinds` lies in the body, inside inner loops too if `loops`."""
    for s in body:
        if isinstance(s, kinds):
            return True
        if isinstance(s, ast.If) and _within([*s.body, *s.orelse], kinds, loops=loops):
            return True
        if isinstance(s, Loop) and _within([*(s.body if loops else ()), *s.orelse], kinds, loops=loops):
            return True
    return False


def returns(body: Sequence[ast.stmt]) -> bool:
    """Whether a `return` lies in the body."""
    return _within(body, (ast.Return,), loops=True)


def jumps(body: Sequence[ast.stmt]) -> bool:
    """Whether control may leave the body by break, continue or return."""
    return returns(body) or _within(body, (ast.Break, ast.Continue), loops=False)


def breaks(loop: Loop) -> bool:
    """Whether the loop has a `break` of its own."""
    return _within(loop.body, (ast.Break,), loops=False)


def endless(loop: Loop) -> bool:
    """A `while True`: left only by a jump."""
    return isinstance(loop, ast.While) and isinstance(loop.test, ast.Constant) and bool(loop.test.value)


def falls(body: Sequence[ast.stmt]) -> bool:
    """Whether control can reach the end of the body, of which all is reachable."""
    return not body or _passes(body[-1])


def _passes(s: ast.stmt) -> bool:
    match s:
        case ast.Return() | ast.Raise() | ast.Break() | ast.Continue():
            return False
        case ast.If():
            return falls(s.body) or falls(s.orelse)
        case ast.While() | ast.For():
            return breaks(s) or (not endless(s) and falls(s.orelse))
        case ast.Assert(test=ast.Constant(value=value)):
            return bool(value) or bool(sys.flags.optimize)
        case _:
            return True
