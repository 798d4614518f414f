"""Shapes that never fit: a comparison that is sure to be reached and sure to fail is an error of the program.

    z = array_zeros 3;  y = array_zeros 4
    check{shapes}(eq 3, 4)                 ->        CompileValueError: operands could not be broadcast together ...

In a branch, or in a loop that may have no trips, it stays an error of the run, as in NumPy: a program may never get
there.  Sizes that are known only at run time are compared there anyway.
"""

from __future__ import annotations

from pullback.analysis.effects import CALLS
from pullback.diagnostic import CompileValueError, Diagnostic
from pullback.ir.node import Block, Op, Program, Value

__all__ = ["reject_mismatches"]


def reject_mismatches(program: Program) -> None:
    """Raise for the first comparison of shapes that fails in every call of the entry."""
    if program.entry in program.functions:
        _Certain(program).function(program.entry)


class _Certain:
    """Walks what every call runs, in order.  The walk of a block tells whether its end is reached."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.constants: dict[Value, object] = {}
        self.seen: set[str] = set()

    def function(self, name: str) -> bool:
        function = self.program.functions.get(name)
        if function is None or name in self.seen:
            return True
        self.seen.add(name)
        return self.block(function.body)

    def block(self, block: Block) -> bool:
        return all(self.op(op) for op in block.ops)

    def op(self, op: Op) -> bool:
        if op.name == "const":
            self.constants[op.result] = op.attrs["value"]
        elif op.name == "check" and self.constants.get(op.operands[0]) is False:
            if op.attrs.get("shapes"):
                raise CompileValueError(self.diagnostic(op))
            return False
        elif op.name in CALLS:
            return self.function(str(op.attrs["callee"]))
        elif op.name == "while":
            return self.block(op.blocks[0])
        elif op.name == "for":
            trips = self.constants.get(op.operands[0])
            return not (isinstance(trips, int) and trips > 0) or self.block(op.blocks[0])
        return True

    def diagnostic(self, op: Op) -> Diagnostic:
        sizes = [str(self.constants.get(v, "?")) for v in op.operands[1:]]
        title = str(op.attrs["message"]).format(*sizes).strip()
        return Diagnostic(title, op.span, label=f"this raises {op.attrs['exception']} in every call")
