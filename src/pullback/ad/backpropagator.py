"""The body of a backpropagator under construction: which sensitivity each value of the source has so far.

    give(x, dx); give(x, dy)     ->     s = py.sum(dx, dy)          take(x): s, or py.zero where nothing was given
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pullback.ir.build import Builder
from pullback.ir.node import Block, Value
from pullback.prims.base import get

__all__ = ["Back", "Step"]


class Back:
    """Sensitivities of the values of the source, in the function that `builder` makes."""

    def __init__(self, inert: set[Value]) -> None:
        self.builder = Builder(Block())
        self.inert = inert
        self.known: dict[Value, Value] = {}

    def emit(self, name: str, operands: Sequence[Value] = (), results: int = 1, /, **attrs: object) -> list[Value]:
        return self.builder.append_untyped(get(f"py.{name}"), operands, attrs=attrs, results=results).results[:]

    def one(self, name: str, operands: Sequence[Value] = (), **attrs: object) -> Value:
        return self.builder.append_untyped(get(f"py.{name}"), operands, attrs=attrs).result

    def give(self, value: Value, sensitivity: Value) -> None:
        """Add to what the value has."""
        if value in self.inert:
            return
        before = self.known.get(value)
        self.known[value] = sensitivity if before is None else self.one("sum", [before, sensitivity])

    def take(self, value: Value) -> Value:
        """What the value has in all; zero where nothing depends on it."""
        found = self.known.pop(value, None)
        return found if found is not None else self.one("zero")

    def of_results(self, values: Sequence[Value]) -> Value:
        """The argument of a backpropagator: the sensitivity of the only result, or a tuple."""
        taken = [self.take(v) for v in values]
        return taken[0] if len(taken) == 1 else self.one("tuple", taken)

    def of_outputs(self, values: Sequence[Value], count: int) -> Value:
        """The same for results and then backpropagators of rising order: ((results, first), second)."""
        whole = self.of_results(values[:count])
        for value in values[count:]:
            whole = self.one("tuple", [whole, self.take(value)])
        return whole

    def call(self, back: Value, given: Value, operands: Sequence[Value]) -> None:
        """Give the operands what a backpropagator says."""
        parts = self.one("call", [back, given], keywords=())
        for index, operand in enumerate(operands):
            if operand not in self.inert:
                self.give(operand, self.one("part", [parts], index=index))


Step = Callable[[Back], None]  # what one op of the source does backwards
