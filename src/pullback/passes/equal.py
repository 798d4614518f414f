"""What a check has proved equal is one value from there on.

    check(eq m, n); z = array_zeros n          ->          check(eq m, n); z = array_zeros m

    if (gt n, 0) { check(eq m, 3) }                        if (gt n, 0) { check(eq m, 3) }
    for n: body (k): z = array_zeros m         ->          for n: body (k): z = array_zeros 3

Only ints: equal floats may differ in the sign of zero.  The value defined first stays (a constant before all), so that
sizes of arrays that an operation has compared become the same value, which is what fusion and promotion look at.
In the trips of a loop it is also known that there are trips.
"""

from __future__ import annotations

from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.ir.walk import defined, substitute
from pullback.prims import get
from pullback.types import BOOL, Scalar

__all__ = ["run"]

Facts = dict[Value, Value]


def run(function: Function, program: Program) -> None:
    """Use facts of equality within the block of the check, and in the blocks nested after it."""
    if any(op.name == "check" for op in function.body.walk()):
        _Equal(function).block(function.body)


class _Equal:
    def __init__(self, function: Function) -> None:
        self.order: dict[Value, int] = {}
        self.makers: dict[Value, Op] = {}
        self.positive: dict[Value, Value] = {}  # bools that tell whether an int is positive
        self.checked: dict[Value, list[Facts]] = {}  # what holds if the int is positive
        self.number(function.body)

    def number(self, block: Block) -> None:
        order = self.order
        for value in block.params:
            order[value] = len(order)
        for op in block.ops:
            for inner in op.blocks:
                self.number(inner)
            for value in op.results:
                # Constants come first: they are the simplest of equals.
                order[value] = -1 if op.name == "const" else len(order)

    def block(self, block: Block) -> None:
        for position, op in enumerate(block.ops):
            if op.name == "check":
                fact = self.fact(op)
                if fact is not None:
                    rest = Block([], block.ops[position + 1 :], block.results)
                    substitute(rest, fact)
                    block.results = rest.results
            elif op.name == "for":
                self.trips(op)
            for inner in op.blocks:
                self.block(inner)
            if op.name == "if":
                self.guarded(op)
            for value in op.results:
                self.makers[value] = op
            if op.name == "gt" and self.is_zero(op.operands[1]):
                self.positive[op.result] = op.operands[0]

    def is_zero(self, value: Value) -> bool:
        made = self.makers.get(value)
        return made is not None and made.name == "const" and made.attrs["value"] == 0 and value.type != BOOL

    def fact(self, op: Op) -> Facts | None:
        made = self.makers.get(op.operands[0])
        if made is None or made.name != "eq":
            return None
        a, b = made.operands
        if a is b or not isinstance(a.type, Scalar) or not a.type.dtype.is_int:
            return None
        first, second = sorted((a, b), key=lambda v: self.order[v])
        return {second: first}

    def guarded(self, op: Op) -> None:
        """Note what is checked if an int is positive."""
        number = self.positive.get(op.operands[0])
        if number is None:
            return
        inside = defined(op.blocks[0], nested=True)
        facts = [self.fact(inner) for inner in op.blocks[0].ops if inner.name == "check"]
        known = [f for f in facts if f is not None and inside.isdisjoint((*f, *f.values()))]
        self.checked.setdefault(number, []).extend(known)

    def trips(self, loop: Op) -> None:
        """Each trip knows that there are trips."""
        (body,), number = loop.blocks, loop.operands[0]
        for facts in self.checked.get(number, ()):
            substitute(body, facts)
        tests = [test for test, tested in self.positive.items() if tested is number]
        if tests:
            true = Op(get("const"), (), [Value(BOOL)], {"value": True, "type": BOOL}, (), loop.span)
            substitute(body, dict.fromkeys(tests, true.result))
            body.ops.insert(0, true)
            self.order[true.result] = -1
