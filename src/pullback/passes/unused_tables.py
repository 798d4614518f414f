"""Tables that nobody looks into are not handed on.

    def f(x, t): return g(x, t)                    def f(x): return g(x)
    def g(x, t): return mul x, x           ->      def g(x): return mul x, x
    entry: t = table{name}(); f(x, t)              entry: f(x)
"""

from __future__ import annotations

from collections.abc import Iterator

from pullback.ir.node import Function, Op, Program
from pullback.ir.rule import mentioned_by_rule, rule_of
from pullback.types import Table

__all__ = ["run"]

Place = tuple[str, int]  # a function and the number of a parameter


def run(program: Program) -> None:
    """Drop the parameters, and what is passed for them."""
    tables = {
        (name, i) for name, f in program.functions.items() for i, v in enumerate(f.body.params)
        if isinstance(v.type, Table) and name != program.entry
    }  # fmt: skip
    unused = tables - _used(program, tables)
    if not unused:
        return
    for name, function in program.functions.items():
        for op in _requests(function):
            _drop_operands(op, [i for callee, i in unused if callee == op.attrs["callee"]])
        function.body.params = [v for i, v in enumerate(function.body.params) if (name, i) not in unused]


def _requests(function: Function) -> Iterator[Op]:
    """Ops that pass arguments to a function."""
    return (op for op in function.body.walk() if "callee" in op.attrs and op.name != "pullback")


def _used(program: Program, tables: set[Place]) -> set[Place]:
    """The parameters that an op looks into, here or in what is called."""
    used = _of_rules(program, tables)
    passed: dict[Place, set[Place]] = {}
    for name, function in program.functions.items():
        number = {v: i for i, v in enumerate(function.body.params) if (name, i) in tables}
        for op in function.body.walk():
            wrt = op.attrs.get("wrt", ())
            assert isinstance(wrt, tuple)
            for place, value in enumerate(op.operands):
                if value in number:
                    target = (str(op.attrs.get("callee")), place)
                    if target in tables and op.name != "pullback" and place not in wrt:
                        passed.setdefault(target, set()).add((name, number[value]))
                    else:
                        used.add((name, number[value]))
    waiting = list(used)
    while waiting:
        new = passed.get(waiting.pop(), set()) - used
        used |= new
        waiting += new
    return used


def _of_rules(program: Program, tables: set[Place]) -> set[Place]:
    """Those of functions with a derivative rule, and of the rule's, all of which are given the same tables."""
    ruled = [(name, f) for name, f in program.functions.items() if rule_of(f) is not None]
    names = {member for name, function in ruled for member in (name, *mentioned_by_rule(function))}
    return {(name, place) for name, place in tables if name in names}


def _drop_operands(op: Op, places: list[int]) -> None:
    if not places:
        return
    op.operands = [v for i, v in enumerate(op.operands) if i not in places]
    wrt = op.attrs.get("wrt")
    if isinstance(wrt, tuple):
        op.attrs["wrt"] = tuple(i - sum(place < i for place in places) for i in wrt)
