"""Statements to ops; jumps become flags only where nesting does not do.

    if c: return a         then: a
    rest              ->   else: rest          no flag: what follows moves into the branch that goes on

    for ...:               the loop carries `returned` and the value; what follows the loop is guarded:
        if c: return a     if(returned) {value} {rest}
    rest
"""

from __future__ import annotations

import ast
import sys
from abc import abstractmethod
from collections.abc import Collection, Sequence
from functools import partial
from typing import NoReturn

from pullback.front.expressions import OPERATORS
from pullback.front.flow import Facts, Known, breaks, endless, falls, jumps
from pullback.front.functions import Functions
from pullback.front.refusals import EXPRESSIONS, STATEMENTS
from pullback.front.state import RETURN
from pullback.ir.node import Value

__all__ = ["Statements"]


class Statements(Functions):
    """The part of the walk that lowers statements; `control` adds loops."""

    in_loop = False

    def block(self, body: Sequence[ast.stmt], end: Facts, wanted: Collection[str]) -> None:
        """Lower a list of statements.

        `end`: facts after it and wherever its jumps land; `wanted`: flags that are read after it.
        """
        for i, s in enumerate(body):
            rest = body[i + 1 :]
            if isinstance(s, ast.If) and jumps([s]):
                return self.branching(s, rest, end, wanted)
            if isinstance(s, ast.For | ast.While):
                self.enter(s)
                flags = self.loop(s)
                return self.after_loop(s, flags, rest, end, wanted)
            self.enter(s)
            self.statement(s)
            if self.state.flags["done"] is True:
                return None
        return None

    @abstractmethod
    def loop(self, s: ast.For | ast.While) -> tuple[bool | Value, bool | Value]:
        """Lower a loop: whether it ended by itself, and whether the function has returned."""

    def enter(self, s: ast.stmt) -> None:
        """What the facts are for functions made in this statement."""
        self.upcoming = self.flow.during.get(s, frozenset())
        self.following = self.flow.after.get(s, frozenset())

    # ------------------------------------------------------------------------------------------------ control

    def branching(self, s: ast.If, rest: Sequence[ast.stmt], end: Facts, wanted: Collection[str]) -> None:
        """An `if` that may jump: what follows goes into the branch that falls through, or under a guard."""
        self.enter(s)
        condition = self.condition(s.test)
        both = bool(rest) and falls(s.body) and falls(s.orelse)
        if both:
            end_here, wanted_here = self.flow.after[s] | end, {*wanted, "done"}
        else:
            end_here, wanted_here = end, set(wanted)
        branches = []
        for body in (s.body, s.orelse):
            follow = list(body) + (list(rest) if falls(body) and not both else [])
            branches.append(self.branch(partial(self.block, follow, end_here, wanted_here)))
        self.merge(s, condition, branches[0], branches[1], end_here, wanted_here)
        if both:
            self.guard(s, rest, end, wanted)

    def guard(self, node: ast.stmt, rest: Sequence[ast.stmt], end: Facts, wanted: Collection[str]) -> None:
        """Lower what follows a statement that may have left."""
        done = self.state.flags["done"]
        if done is True:
            return
        if done is False:
            return self.block(rest, end, wanted)
        condition = self.truth(node, self.flag(done))
        left = self.branch(self.leave)
        on = self.branch(lambda: self.go_on(rest, end, wanted))
        self.merge(node, condition, left, on, end, wanted)

    def leave(self) -> None:
        """The branch in which control has left.  Outside loops that was a return."""
        self.state.flags["done"] = True
        if not self.in_loop:
            self.state.flags["returned"] = True
            self.checked(None, RETURN)

    def go_on(self, rest: Sequence[ast.stmt], end: Facts, wanted: Collection[str]) -> None:
        """The branch in which control has not left, so no flag is set."""
        self.state.flags = {"done": False, "go": True, "returned": False}
        self.state.names.pop(RETURN, None)
        self.block(rest, end, wanted)

    def after_loop(
        self,
        s: ast.For | ast.While,
        flags: tuple[bool | Value, bool | Value],
        rest: Sequence[ast.stmt],
        end: Facts,
        wanted: Collection[str],
    ) -> None:
        """`else` of a loop that ended by itself, then the rest, unless the loop returned."""
        whole, returned = flags
        if s.orelse and whole is True:
            rest = [*s.orelse, *rest]
        elif s.orelse and isinstance(whole, Value):
            test = ast.copy_location(Known(), s)
            self.known[test] = whole
            pending = ast.copy_location(ast.If(test=test, body=s.orelse, orelse=[]), s)
            self.flow.after[pending] = self.flow.after[s]
            rest = [pending, *rest]
        only_jumps = endless(s) and not breaks(s)
        if only_jumps and returned is False:  # what follows is never reached, and says so to inference
            return self.diverge(s, self.make(s, "py.global", name="AssertionError"))
        if returned is False:
            return self.block(rest, end, wanted)
        if only_jumps:
            return self.leave_by_return()
        self.state.flags = {"done": returned, "go": None, "returned": returned}
        condition = self.truth(s, self.flag(returned))
        left = self.branch(self.leave_by_return)
        on = self.branch(lambda: self.go_on(rest, end, wanted))
        self.merge(s, condition, left, on, end, wanted)
        return None

    def leave_by_return(self) -> None:
        self.state.flags.update(go=False, returned=True)
        self.leave()

    # ------------------------------------------------------------------------------------------------ statements

    def statement(self, s: ast.stmt) -> None:
        """Lower a statement that is no loop and no `if` with jumps."""
        match s:
            case ast.Expr():
                if not isinstance(s.value, ast.Constant):
                    self.expression(s.value)
            case ast.Assign():
                self.assign(s)
            case ast.AugAssign():
                self.augment(s)
            case ast.AnnAssign():
                if s.value is not None:
                    self.store(s.target, self.expression(s.value))
            case ast.If():
                condition = self.condition(s.test)
                end = self.flow.after[s]
                then = self.branch(lambda: self.block(s.body, end, ()))
                other = self.branch(lambda: self.block(s.orelse, end, ()))
                self.merge(s, condition, then, other, end, ())
            case ast.Return():
                value = self.constant(s, None) if s.value is None else self.expression(s.value)
                self.state.flags = {"done": True, "go": False, "returned": True}
                self.bind(RETURN, value)
            case ast.Break():
                self.state.flags.update(done=True, go=False)
            case ast.Continue():
                self.state.flags["done"] = True
            case ast.Raise():
                self.raise_exception(s)
            case ast.Assert():
                self.assertion(s)
            case ast.FunctionDef():
                self.define(s)
            case ast.Import() | ast.ImportFrom():
                self.import_(s)
            case ast.Pass() | ast.Global() | ast.Nonlocal():
                pass
            case _:
                self.refuse_statement(s)

    def refuse_statement(self, s: ast.stmt) -> NoReturn:
        kind = type(s).__name__
        row = STATEMENTS.get(kind, (f"{kind} statements are not supported", "cannot be compiled", ""))
        self.refuse(s, *row)

    def assign(self, s: ast.Assign) -> None:
        """Left to right; a literal tuple on the right needs no tuple: `a, b = b, a` binds values."""
        (target, *more) = s.targets
        if not more and isinstance(target, ast.Tuple | ast.List) and _matches(target, s.value):
            assert isinstance(s.value, ast.Tuple | ast.List)
            return self.store_items(target.elts, self.items(target, s.value))
        value = self.expression(s.value)
        for target in s.targets:
            self.store(target, value)
        return None

    def items(self, target: ast.Tuple | ast.List, value: ast.Tuple | ast.List) -> list[Value | list[object]]:
        """The values for nested targets, evaluated in order."""
        found: list[Value | list[object]] = []
        for part, item in zip(target.elts, value.elts, strict=True):
            if isinstance(part, ast.Tuple | ast.List) and _matches(part, item):
                assert isinstance(item, ast.Tuple | ast.List)
                found.append(list(self.items(part, item)))
            else:
                found.append(self.expression(item))
        return found

    def store_items(self, targets: Sequence[ast.expr], items: Sequence[object]) -> None:
        for target, item in zip(targets, items, strict=True):
            if isinstance(item, list):
                assert isinstance(target, ast.Tuple | ast.List)
                self.store_items(target.elts, item)
            else:
                assert isinstance(item, Value)
                self.store(target, item)

    def store(self, target: ast.expr, value: Value) -> None:
        """Bind a target: a name, or a tuple of targets."""
        match target:
            case ast.Name():
                self.assign_name(target, value)
            case ast.Tuple() | ast.List():
                for part in target.elts:
                    if isinstance(part, ast.Starred):
                        self.refuse(part, *EXPRESSIONS["Starred"])
                op = self.op(target, "py.unpack", value, results=len(target.elts))
                op.attrs["count"] = len(target.elts)
                for part, item in zip(target.elts, op.results, strict=True):
                    self.store(part, item)
            case ast.Subscript():
                subject = self.expression(target.value)
                index = self.expression(target.slice)
                self.op(target, "py.setitem", subject, index, value, results=0)
            case _:
                self.refuse_target(target)

    def refuse_target(self, target: ast.expr) -> NoReturn:
        if isinstance(target, ast.Attribute):
            self.refuse(
                target, "attributes cannot be assigned yet", "objects are only read in compiled code",
                "return the new value, or keep it in a local variable",
            )  # fmt: skip
        self.refuse(target, *EXPRESSIONS["Starred"])

    def assign_name(self, target: ast.Name, value: Value) -> None:
        kind = self.scope.declared.get(target.id)
        if kind is not None:
            self.refuse_declared(target, target.id, kind)
        self.bind(target.id, value)

    def refuse_declared(self, node: ast.AST, name: str, kind: str) -> NoReturn:
        outer = "a global" if kind == "global" else "a variable of the function around"
        self.refuse(
            node, f"the {kind} name '{name}' is assigned", f"{outer} can be read here but not changed",
            "return the new value and let the caller store it",
        )  # fmt: skip

    def augment_item(self, s: ast.AugAssign, target: ast.Subscript) -> None:
        """x[i] += v: x and i once, then the old item, then v."""
        subject = self.expression(target.value)
        index = self.expression(target.slice)
        old = self.make(target, "py.subscript", subject, index)
        value = self.expression(s.value)
        self.op(s, "py.inplace_item", subject, index, old, value, results=0).attrs["operator"] = OPERATORS[type(s.op)]

    def augment(self, s: ast.AugAssign) -> None:
        if isinstance(s.target, ast.Subscript):
            return self.augment_item(s, s.target)
        if not isinstance(s.target, ast.Name):
            self.refuse_target(s.target)
        kind = self.scope.declared.get(s.target.id)
        if kind is not None:
            self.refuse_declared(s.target, s.target.id, kind)
        old = self.read(s.target)
        value = self.expression(s.value)
        self.assign_name(s.target, self.make(s, "py.inplace", old, value, operator=OPERATORS[type(s.op)]))
        return None

    def raise_exception(self, s: ast.Raise) -> None:
        if s.exc is None:
            self.refuse(
                s, "a bare `raise` is not supported", "there is no exception being handled here",
                'name the exception: raise ValueError("...")',
            )  # fmt: skip
        if s.cause is not None and not (isinstance(s.cause, ast.Constant) and s.cause.value is None):
            self.refuse(
                s.cause, "`raise ... from` is not supported", "a cause cannot be attached in compiled code",
                "leave out `from ...`",
            )  # fmt: skip
        self.diverge(s, self.expression(s.exc))

    def diverge(self, s: ast.stmt, exception: Value) -> None:
        self.state.never = self.make(s, "py.raise", exception)
        self.state.flags["done"] = True

    def assertion(self, s: ast.Assert) -> None:
        """A plain message goes with the op; any other is evaluated only where the condition fails."""
        if sys.flags.optimize:
            return None
        if not falls([s]):
            return self.diverge(s, self.assertion_error(s))
        condition = self.condition(s.test)
        if s.msg is None:
            self.op(s, "py.assert", condition, results=0)
        elif isinstance(s.msg, ast.Constant | ast.JoinedStr):
            self.op(s, "py.assert", condition, self.expression(s.msg), results=0)
        else:
            holds = self.branch(lambda: None)
            fails = self.branch(lambda: self.diverge(s, self.assertion_error(s)))
            self.merge(s, condition, holds, fails, self.flow.after[s])
        return None

    def assertion_error(self, s: ast.Assert) -> Value:
        kind = self.make(s, "py.global", name="AssertionError")
        arguments = [] if s.msg is None else [self.expression(s.msg)]
        return self.make(s, "py.call", kind, *arguments, keywords=())

    def define(self, s: ast.FunctionDef) -> None:
        """`def`: decorators are evaluated first and applied last."""
        decorators = [self.expression(d) for d in s.decorator_list]
        value = self.closure(s)
        for node, decorator in zip(reversed(s.decorator_list), reversed(decorators), strict=True):
            value = self.make(node, "py.call", decorator, value, keywords=())
        self.assign_name(ast.copy_location(ast.Name(id=s.name, ctx=ast.Store()), s), value)

    def import_(self, s: ast.Import | ast.ImportFrom) -> None:
        """Modules are values known while compiling."""
        if isinstance(s, ast.ImportFrom) and s.level:
            self.refuse(
                s, "relative imports are not supported inside a function", "relative to a package",
                "import at the top of the module",
            )  # fmt: skip
        for alias in s.names:
            bound = alias.asname or alias.name.partition(".")[0]
            if isinstance(s, ast.ImportFrom):
                value = self.make(s, "py.import", module=s.module, name=alias.name)
            else:
                value = self.make(s, "py.import", module=alias.name, name="")
                if alias.asname is None and "." in alias.name:  # `import a.b` binds a
                    value = self.make(s, "py.import", module=bound, name="")
            self.assign_name(ast.copy_location(ast.Name(id=bound, ctx=ast.Store()), s), value)


def _matches(target: ast.expr, value: ast.expr) -> bool:
    """Whether a tuple of targets meets a literal tuple of as many values, none of either starred."""
    if not isinstance(target, ast.Tuple | ast.List) or not isinstance(value, ast.Tuple | ast.List):
        return False
    starred = any(isinstance(part, ast.Starred) for part in [*target.elts, *value.elts])
    return len(target.elts) == len(value.elts) and not starred
