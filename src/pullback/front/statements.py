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

from pullback.front.exceptions import Exceptions
from pullback.front.flow import Facts, breaks, endless, falls, jumps
from pullback.front.refusals import STATEMENTS
from pullback.front.state import RETURN
from pullback.front.trees import Ask, Known
from pullback.ir.node import Value

__all__ = ["Statements"]

_WITHOUT_RESULT = ("py.append", "py.add", "py.setitem")

class Statements(Exceptions):
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
                flags = self.loop(s)
                return self.after_loop(s, flags, rest, end, wanted)
            if isinstance(s, ast.Try):
                more = self.try_statement(s, end, {*wanted, "done"})
                return self.guard(s, [*more, *rest], end, wanted) if more or rest else None
            self.statement(s)
            if self.state.flags["done"] is True:
                return None
        return None

    @abstractmethod
    def loop(self, s: ast.For | ast.While) -> tuple[bool | Value, bool | Value]:
        """Lower a loop: whether it ended by itself, and whether the function has returned."""

    # ------------------------------------------------------------------------------------------------ control

    def branching(self, s: ast.If, rest: Sequence[ast.stmt], end: Facts, wanted: Collection[str]) -> None:
        """An `if` that may jump: what follows goes into the branch that falls through, or under a guard."""
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
                self.evaluate(s.value)
            case ast.Assign():
                self.assign(s)
            case ast.AugAssign():
                self.augment(s)
            case ast.AnnAssign():
                self.annotate(s)
            case ast.Delete():
                for target in s.targets:
                    self.delete(target)
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


    def evaluate(self, node: ast.expr) -> None:
        """An expression whose value nobody wants."""
        if isinstance(node, Ask) and node.prim in _WITHOUT_RESULT:
            operands = [self.expression(operand) for operand in node.operands]
            self.op(node, node.prim, *operands, results=0).attrs.update(node.attrs)
        elif not isinstance(node, ast.Constant):
            self.expression(node)


    def raise_exception(self, s: ast.Raise) -> None:
        if s.exc is None:
            if self.handling is None:
                self.refuse(
                    s, "a bare `raise` stands outside an `except` block", "there is no exception being handled here",
                    'name the exception: raise ValueError("...")',
                )  # fmt: skip
            self.leave_raising(self.make(s, "py.reraise", self.handling))
        elif s.cause is None:
            self.diverge(s, self.expression(s.exc))
        else:
            exception = self.expression(s.exc)
            cause = self.expression(s.cause)
            self.leave_raising(self.make(s, "py.raise", exception, cause))

    def diverge(self, s: ast.stmt, exception: Value) -> None:
        self.leave_raising(self.make(s, "py.raise", exception))

    def leave_raising(self, never: Value) -> None:
        """What follows is not reached; `never` stands for whatever is merged later."""
        self.state.never = never
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
        elif all(isinstance(part, ast.Constant | ast.JoinedStr) for part in ast.walk(s.msg)):
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
