"""Well-formedness of typed IR, verified after every stage in tests: scoping, types, arities of blocks."""

from __future__ import annotations

from collections.abc import Sequence

from pullback.diagnostic import InternalError
from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.ir.rule import misfit
from pullback.ir.show import show_function
from pullback.types import BOOL, I64, Machine

__all__ = ["check_function", "check_program"]


def check_program(program: Program, stage: str = "") -> None:
    """Check every function; raise InternalError with the IR of the first that is not well formed."""
    for function in program.functions.values():
        check_function(function, stage, program)


def check_function(function: Function, stage: str = "", program: Program | None = None) -> None:
    """Each value defined once, before use, in scope; op results typed as the primitive says; rules fit functions."""
    try:
        _Checker(program).block(function.body, set())
        if program is not None and (wrong := misfit(function, program)):
            raise _IllFormed(wrong)
    except _IllFormed as error:
        where = f" after {stage}" if stage else ""
        raise InternalError(f"{function.name}{where}: {error}", show_function(function, source=False)) from None


class _IllFormed(Exception):
    pass


class _Checker:
    def __init__(self, program: Program | None) -> None:
        self.seen: set[Value] = set()
        self.program = program

    def define(self, value: Value, scope: set[Value]) -> None:
        if value in self.seen:
            raise _IllFormed(f"{value!r} is defined twice")
        if value.type is None:
            raise _IllFormed(f"{value!r} has no type")
        self.seen.add(value)
        scope.add(value)

    def use(self, value: Value, scope: set[Value], op: Op | None) -> None:
        if value not in scope:
            raise _IllFormed(f"{value!r} is used outside its scope" + (f" by {op.name} at {op.span}" if op else ""))

    def block(self, block: Block, outer: set[Value]) -> None:
        scope = set(outer)
        for param in block.params:
            self.define(param, scope)
        for op in block.ops:
            self.op(op, scope)
        for value in block.results:
            self.use(value, scope, None)

    def op(self, op: Op, scope: set[Value]) -> None:
        for value in op.operands:
            self.use(value, scope, op)
        for block in op.blocks:
            self.block(block, scope)
        for value in op.results:
            self.define(value, scope)
        actual = [v.type for v in op.results]
        structured = {"if": self.check_if, "while": self.check_while, "for": self.check_for}.get(op.name)
        if structured is not None:
            structured(op)
        elif "callee" in op.attrs:
            self.check_callee(op)
        elif not op.blocks:
            self.check_column(op)
            self.same(op, op.prim.result_types([_machine(v) for v in op.operands], op.attrs), actual)

    def check_if(self, op: Op) -> None:
        self.same(op, [BOOL], [v.type for v in op.operands])
        for block in op.blocks:
            self.same(op, [v.type for v in op.results], [v.type for v in block.results])

    def check_while(self, op: Op) -> None:
        carried = [v.type for v in op.operands]
        cond, body = op.blocks
        for types in (cond.params, body.params, body.results, op.results):
            self.same(op, carried, [v.type for v in types])
        self.same(op, [BOOL], [v.type for v in cond.results])

    def check_for(self, op: Op) -> None:
        carried = [v.type for v in op.operands[1:]]
        (body,) = op.blocks
        self.same(op, [I64], [op.operands[0].type])
        self.same(op, [I64, *carried], [v.type for v in body.params])
        for types in (body.results, op.results):
            self.same(op, carried, [v.type for v in types])

    def check_callee(self, op: Op) -> None:
        """A call, or a request for a derivative of a function: arguments and results first, then what it adds."""
        callee = self.program.functions.get(str(op.attrs["callee"])) if self.program else None
        if callee is None or op.name == "pullback":
            return
        params = [v.type for v in callee.body.params]
        results = [v.type for v in callee.body.results]
        whole = op.name == "call"
        self.same(op, params, [v.type for v in op.operands[: None if whole else len(params)]])
        self.same(op, results, [v.type for v in op.results[: None if whole else len(results)]])

    def check_column(self, op: Op) -> None:
        """What is read or written has the type of the table's column."""
        if self.program is None or "column" not in op.attrs:
            return
        column = int(str(op.attrs["column"]))
        layout = self.program.layouts.get(getattr(op.operands[0].type, "name", ""))
        if not layout or not 0 <= column < len(layout[0]):
            raise _IllFormed(f"{op.name} at {op.span}: {op.operands[0]!r} has no column {column}")
        self.same(op, [layout[0][column]], [v.type for v in (*op.operands[2:], *op.results)][:1])

    def same(self, op: Op, expected: Sequence[Machine | None], actual: Sequence[Machine | None]) -> None:
        if list(expected) != list(actual):
            wanted, found = [str(t) for t in expected], [str(t) for t in actual]
            raise _IllFormed(f"{op.name} at {op.span}: expected {wanted}, found {found}")


def _machine(value: Value) -> Machine:
    if value.type is None:
        raise _IllFormed(f"{value!r} has no type")
    return value.type
