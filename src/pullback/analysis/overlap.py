"""May two array values of one function share memory.

    z = array_zeros n;  g = array_zeros n        apart: each allocation is memory of its own
    p, z                                         apart, p being a parameter: z did not exist before
    for .., u, v: ... yield v, u                 apart if what u and v start as is
"""

from __future__ import annotations

from pullback.analysis.effects import ALLOCATIONS, VIEWS, Memory, is_reference
from pullback.ir.node import Function, Op, Program, Value

__all__ = ["Overlap"]

Start = tuple[int, Value]  # the number of a carried array and the one it starts from


class Overlap:
    """The references of one function.  `maker` may be kept up to date by a pass that changes ops."""

    def __init__(self, function: Function, program: Program) -> None:
        self.memory = Memory(function, program)
        self.maker: dict[Value, Op] = {r: op for op in function.body.walk() for r in op.results}
        self._params = set(function.body.params)
        self._carried = _permuted(function)

    def base(self, value: Value) -> Value:
        """The array that a chain of views looks at."""
        while (op := self.maker.get(value)) is not None and op.name in VIEWS:
            value = op.operands[0]
        return value

    def meet(self, a: Value, b: Value) -> bool:
        """May two references share memory.  What one function allocates is no other array of it."""
        if self.memory.root(a) is not self.memory.root(b):
            return False
        first, second = self.base(a), self.base(b)
        if first is second:
            return True
        if first in self._carried and second in self._carried:
            return self._carried_meet(first, second)
        made = [self.maker.get(v) for v in (first, second)]
        fresh = [op is not None and op.name in ALLOCATIONS for op in made]
        settled = [new or v in self._params for new, v in zip(fresh, (first, second), strict=True)]
        return not (any(fresh) and all(settled))

    def _carried_meet(self, a: Value, b: Value) -> bool:
        """Two arrays that a loop only passes round (u, v = v, u) are apart if all that may stand there start apart."""
        (loop, mine), (other, theirs) = self._carried[a], self._carried[b]
        if loop is not other:
            return True
        return any(self.meet(x, y) for i, x in mine for j, y in theirs if i != j)


def _permuted(function: Function) -> dict[Value, tuple[Op, list[Start]]]:
    """Loop parameters that every trip only passes on, with the starts of all those whose place they may take."""
    found: dict[Value, tuple[Op, list[Start]]] = {}
    for op in function.body.walk():
        if op.name not in ("for", "while"):
            continue
        fixed = 1 if op.name == "for" else 0
        body, starts = op.blocks[-1], op.operands[fixed:]
        params = body.params[fixed:]
        place = {v: i for i, v in enumerate(params)}
        follows = [place.get(v) if is_reference(v.type) else None for v in body.results]
        for i, param in enumerate(params):
            cycle, at = [i], follows[i]
            while at is not None and at not in cycle:
                cycle.append(at)
                at = follows[at]
            if at is not None and is_reference(param.type):
                found[param] = (op, [(j, starts[j]) for j in cycle])
    return found
