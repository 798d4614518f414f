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

from pullback.front.scope import Scope
from pullback.front.trees import Bound, Known, own_nodes, stores_in

__all__ = ["Facts", "Flow", "Known", "breaks", "endless", "falls", "jumps", "reachable", "returns"]

Facts = frozenset[str]
NOTHING: Facts = frozenset()
Loop = ast.While | ast.For


@dataclass(frozen=True, slots=True)
class _Exits:
    """Facts where a jump lands."""

    after_break: Facts = NOTHING
    after_continue: Facts = NOTHING
    left: Facts = NOTHING  # by return or an exception: what a `finally` or a handler reads


@dataclass(eq=False)
class Flow:
    """Facts at the statements of one function.

    `after[s]` after a statement; `during[s]` while its expressions (the test of an `if`, the iterable of a `for`) are
    evaluated; `head[loop]` at the top of each trip; `exit[loop]` where it ends, before `else`; `between[try]` after the
    body, before `else`.
    """

    scope: Scope
    end: Facts = NOTHING  # where the function ends
    body: list[ast.stmt] = field(default_factory=list)  # what control can reach, statements with blocks rebuilt
    after: dict[ast.AST, Facts] = field(default_factory=dict)
    during: dict[ast.AST, Facts] = field(default_factory=dict)
    head: dict[ast.AST, Facts] = field(default_factory=dict)
    exit: dict[ast.AST, Facts] = field(default_factory=dict)
    between: dict[ast.AST, Facts] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._effects: dict[ast.AST, _Effect] = {}
        self.body = reachable(self.scope.body)
        self._block(self.body, self.end, _Exits(left=self.end), True)

    def _block(self, body: Sequence[ast.stmt], facts: Facts, exits: _Exits, keep: bool) -> Facts:
        for statement in reversed(body):
            if keep:
                self.after[statement] = facts
            facts = self._statement(statement, facts, exits, keep)
        return facts

    def _statement(self, s: ast.stmt, out: Facts, exits: _Exits, keep: bool) -> Facts:
        match s:
            case ast.Return() | ast.Raise():
                return self._through(s, [s], exits.left, keep)
            case ast.Break():
                return exits.after_break
            case ast.Continue():
                return exits.after_continue
            case ast.If():
                yes, no = self._block(s.body, out, exits, keep), self._block(s.orelse, out, exits, keep)
                return self._tested(s, yes, no, keep)
            case ast.AnnAssign(value=None):
                return self._through(s, [], out, keep)
            case ast.While():
                return self._loop(s, out, exits, keep)
            case ast.For():
                return self._through(s, [s.iter], self._loop(s, out, exits, keep), keep)
            case ast.Try():
                return self._try(s, out, exits, keep) | exits.left
            case _:
                return self._through(s, [s], out, keep) | exits.left

    def _loop(self, s: Loop, out: Facts, exits: _Exits, keep: bool) -> Facts:
        """Facts at the head.  One walk finds them: a path that passes the head twice adds nothing new."""
        exit_ = self._block(s.orelse, out, exits, keep)
        first = self._block(s.body, NOTHING, _Exits(out, NOTHING, exits.left), False)
        normal = NOTHING if endless(s) else exit_
        if isinstance(s, ast.While):
            head = self._tested(s, first, normal, False)
        else:
            head = self._through(s, [s.target], first, False) | normal
        if keep:
            self._block(s.body, head, _Exits(out, head, exits.left), True)
            self.head[s] = self.during[s] = head
            self.exit[s] = exit_ | (out if breaks(s) else NOTHING)
        return head

    def _try(self, s: ast.Try, out: Facts, exits: _Exits, keep: bool) -> Facts:
        """Facts before it.  `head`: where an exception lands, handlers or `finally`; it may come at any point."""
        if s.finalbody:
            every = out | exits.after_break | exits.after_continue | exits.left
            landing = self._block(s.finalbody, every, exits, keep)
            inside, after = _Exits(landing, landing, landing), landing
        else:
            landing = exits.left.union(*(self._handler(h, out, exits, keep) for h in s.handlers))
            inside = _Exits(exits.after_break, exits.after_continue, landing)
            after = self._block(s.orelse, out, exits, keep)
        facts = self._block(s.body, after, inside, keep)
        if keep:
            self.head[s], self.between[s] = landing, after
            self.exit[s] = out | exits.after_break | exits.after_continue | exits.left
            self.during[s] = facts | landing
        return facts | landing

    def _handler(self, h: ast.ExceptHandler, out: Facts, exits: _Exits, keep: bool) -> Facts:
        """Facts before a handler, whose name it unsets at its end."""
        facts = self._block(h.body, out, exits, keep) - {h.name}
        return facts if h.type is None else facts | self.effect(h.type).reads

    def _through(self, s: ast.stmt, roots: Sequence[ast.AST], out: Facts, keep: bool) -> Facts:
        """Facts before the evaluation of `roots`, which belong to statement `s`."""
        effects = [self.effect(root) for root in roots]
        assigned = NOTHING.union(*(e.assigned for e in effects))
        if keep:
            self.during[s] = out | assigned
        return out.difference(*(e.killed for e in effects)).union(assigned, *(e.reads for e in effects))

    def _tested(self, s: ast.If | ast.While, yes: Facts, no: Facts, keep: bool) -> Facts:
        """Facts before the test of a statement: one that assigns is followed from operand to operand."""
        if not any(isinstance(node, ast.NamedExpr) for node in own_nodes([s.test])):
            return self._through(s, [s.test], yes | no, keep)
        if keep:
            self.during[s] = yes | no | self.effect(s.test).assigned
        return self._before(s.test, yes, no)

    def _before(self, node: ast.expr, yes: Facts, no: Facts) -> Facts:
        """Facts before an expression, from those where it is true and where it is not."""
        match node:
            case ast.BoolOp(op=ast.And()):
                for value in reversed(node.values):
                    yes = self._before(value, yes, no)
                return yes
            case ast.BoolOp():
                for value in reversed(node.values):
                    no = self._before(value, yes, no)
                return no
            case ast.UnaryOp(op=ast.Not()):
                return self._before(node.operand, no, yes)
            case ast.NamedExpr():
                return self._assigned(node, yes | no)
            case ast.Compare(left=ast.NamedExpr() as left, comparators=[right]):
                return self._assigned(left, self._before(right, yes | no, yes | no))
            case Bound():
                for binding in reversed(node.bindings):
                    yes = self._assigned(binding, yes)
                return yes
        effect = self.effect(node)
        return (yes | no).difference(effect.killed) | effect.assigned | effect.reads

    def _assigned(self, node: ast.NamedExpr, out: Facts) -> Facts:
        name = node.target.id
        out = (out - {name}) | {f"={name}"}
        return self._before(node.value, out, out)

    def effect(self, root: ast.AST) -> _Effect:
        """What evaluating the node reads and assigns, captures of functions it makes included."""
        found = self._effects.get(root)
        if found is None:
            found = self._effects[root] = self._find_effect(own_nodes([root]))
        return found

    def _find_effect(self, nodes: Sequence[ast.AST]) -> _Effect:
        reads: set[str] = set()
        conditional: set[ast.AST] = set()  # targets of `:=`, which may not be reached
        for node in nodes:
            match node:
                case ast.Name(ctx=ast.Load() | ast.Del()):  # only a name that is set can be deleted
                    reads.add(node.id)
                case ast.AugAssign(target=ast.Name(id=name)):
                    reads.add(name)
                case ast.NamedExpr():
                    conditional.add(node.target)
                case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                    reads |= self.scope.child(node).reads - {self.scope.selves.get(node, "")}
                case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                    child = self.scope.child(node)
                    reads |= child.reads | child.exports
                    conditional.update(target for _, target in stores_in([node]))
        stores = [(name, node) for name, node in stores_in(nodes) if name in self.scope.locals]
        killed = frozenset(name for name, node in stores if node not in conditional)
        return _Effect(frozenset(reads), frozenset(f"={name}" for name, _ in stores), killed)


@dataclass(frozen=True, slots=True)
class _Effect:
    """Names read, facts `=x` of names assigned, and names that are surely assigned."""

    reads: Facts
    assigned: Facts
    killed: Facts


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
            case ast.Try():
                s = _reachable_try(s)
        found.append(s)
        if not _passes(s):
            break
    return found


def _reachable_try(s: ast.Try) -> ast.Try:
    """`finally` around what has handlers: two statements, each of one kind."""
    body, orelse, finalbody = reachable(s.body), reachable(s.orelse), reachable(s.finalbody)
    handlers = [
        ast.ExceptHandler(type=h.type, name=h.name, body=reachable(h.body), **_place(h)) for h in s.handlers
    ]
    if not falls(body):
        orelse = []
    if not finalbody:
        return ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=[], **_place(s))
    if handlers:
        body = [ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=[], **_place(s))]
    return ast.Try(body=body, handlers=[], orelse=[], finalbody=finalbody, **_place(s))


def _place(s: ast.stmt | ast.ExceptHandler) -> dict[str, Any]:
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
        if isinstance(s, ast.Try) and _within(_parts(s), kinds, loops=loops):
            return True
    return False


def _parts(s: ast.Try) -> list[ast.stmt]:
    """The statements of all parts of a `try`."""
    return [*s.body, *(inner for h in s.handlers for inner in h.body), *s.orelse, *s.finalbody]


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
        case ast.Try():
            whole = falls([*s.body, *s.orelse]) or any(falls(h.body) for h in s.handlers)
            return whole and falls(s.finalbody)
        case ast.While() | ast.For():
            return breaks(s) or (not endless(s) and falls(s.orelse))
        case ast.Assert(test=ast.Constant(value=value)):
            return bool(value) or bool(sys.flags.optimize)
        case _:
            return True
