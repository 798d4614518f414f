"""How much work a piece of typed IR is, in units of about one machine instruction; it paces the polls for Ctrl-C.

    for k in n:  s = s*x + 1        costs 2 a trip: a poll comes after about 2**19 trips

Loops of unknown length, array kernels and functions with either pay for themselves when they run (`writer.burn`); what
is counted here is the straight-line rest of a block.
"""

from __future__ import annotations

from collections.abc import Iterator

from pullback.codegen.elementary_libraries import POINTERS
from pullback.ir.node import Block, Op, Program, Value
from pullback.prims.base import Elementary

__all__ = ["STRIP", "Costs"]

STRIP = 1 << 18  # a loop burns fuel after about this much work
_HEAVY = {"div": 4, "floordiv": 20, "mod": 20, "fmod": 20, "sqrt": 6, "powi": 8, "ipow": 40, "pow_overflows": 60,
          "elementwise": 20, "matmul": 20, "lapack": 100, "matmul_inc": 20, "box": 20, "buffer": 20, "array_empty": 20,
          "array_zeros": 20, "buffer_zeros": 20, "while": 8}  # fmt: skip
_ELEMENTARY, _SLOW_ELEMENTARY = 20, 100
_SLOW = frozenset({"gamma", "lgamma", "polygamma", "pow", "erf", "erfc", "remainder"}) | set(POINTERS)


class Costs:
    """Costs of the blocks and functions of a program, and which functions call themselves."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.recursive = recursive_functions(program)
        self._functions: dict[str, int] = {}
        self._integers: dict[Value, int] = {}
        for function in program.functions.values():
            for op in function.body.walk():
                if op.prim.name == "const" and type(op.attrs["value"]) is int:
                    self._integers[op.results[0]] = op.attrs["value"]

    def block(self, block: Block) -> int:
        """At least 1."""
        return 1 + sum(map(self.op, block.ops))

    def op(self, op: Op) -> int:
        name = op.prim.name
        if name == "if":
            return 1 + sum(map(self.block, op.blocks))
        if name == "for":
            trips = self._integers.get(op.operands[0])
            return 8 if trips is None else min(2 * STRIP, 1 + max(0, trips) * self.block(op.blocks[0]))
        if name == "call":
            return 8 + self.function(str(op.attrs["callee"]))
        found = _HEAVY.get(name)
        if found is not None:
            return found
        lower = getattr(op.prim, "lower", None)
        if lower and isinstance(next(iter(lower.values())), Elementary):
            return _SLOW_ELEMENTARY if name in _SLOW else _ELEMENTARY
        return 1

    def function(self, name: str) -> int:
        """The straight-line work of one call; functions that call themselves pay when they run."""
        if name in self.recursive or name not in self.program.functions:
            return 1
        found = self._functions.get(name)
        if found is None:
            found = self._functions[name] = self.block(self.program.functions[name].body)
        return found


def recursive_functions(program: Program) -> frozenset[str]:
    """The functions that lie on a cycle of the call graph (Tarjan, iterative)."""
    calls = {
        name: list(dict.fromkeys(str(op.attrs["callee"]) for op in f.body.walk() if op.prim.name == "call"))
        for name, f in program.functions.items()
    }
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    open_: dict[str, None] = {}
    found: set[str] = set()
    for root in calls:
        work: list[tuple[str, Iterator[str]]] = [(root, iter(()))] if root not in index else []
        while work:
            name, _ = work[-1]
            if name not in index:
                index[name] = low[name] = len(index)
                open_[name] = None
                work[-1] = (name, iter(calls.get(name, ())))
            name, successors = work[-1]
            for callee in successors:
                if callee not in index:
                    work.append((callee, iter(())))
                    break
                if callee in open_:
                    low[name] = min(low[name], index[callee])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[name])
                if low[name] == index[name]:
                    component: list[str] = []
                    while not component or component[-1] != name:
                        component.append(open_.popitem()[0])
                    if len(component) > 1 or name in calls.get(name, ()):
                        found.update(component)
    return frozenset(found)
