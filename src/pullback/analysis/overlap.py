"""May two array values of one function share memory.

    z = array_zeros n;  g = array_zeros n        apart: each allocation is memory of its own
    p, z                                         apart, p being a parameter: z did not exist before
    for .., u, v: ... yield v, u                 apart if what u and v start as is
    for .., u: w = copy u; ... yield w           w and the u of one trip are: it was there before w (`meet_at_once`)
"""

from __future__ import annotations

from functools import cached_property

from pullback.analysis.effects import ALLOCATIONS, VIEWS, Memory, is_reference
from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.types import ArrayRef, Buffer

__all__ = ["Origins", "Overlap"]

Start = tuple[int, Value]  # the number of a carried array and the one it starts from


class Overlap:
    """The references of one function.  `maker` may be kept up to date by a pass that changes ops."""

    def __init__(self, function: Function, program: Program) -> None:
        self.memory = Memory(function, program)
        self.maker: dict[Value, Op] = {r: op for op in function.body.walk() for r in op.results}
        self._function = function
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

    def meet_at_once(self, a: Value, b: Value) -> bool:
        """The same of the arrays that they are in one run of the block that holds both; other trips do not count."""
        if not self.meet(a, b):
            return False
        first, second = self.base(a), self.base(b)
        return first is second or not (self._is_older(first, second) or self._is_older(second, first))

    def _is_older(self, old: Value, new: Value) -> bool:
        """Is the one array allocated when the other is known already."""
        made, places = self.maker.get(new), self._places
        if made is None or made.name not in ALLOCATIONS or old not in places or new not in places:
            return False
        if not isinstance(old.type, ArrayRef) or not isinstance(new.type, ArrayRef):
            return False
        (holder, before), (block, after) = places[old], places[new]
        around: Block | None = block
        while around is not None and around is not holder:
            around = self._around.get(around)
        return around is holder and before < after

    @cached_property
    def _around(self) -> dict[Block, Block]:
        """The block that holds the op that a block belongs to."""
        blocks = [self._function.body, *(inner for op in self._function.body.walk() for inner in op.blocks)]
        return {inner: block for block in blocks for op in block.ops for inner in op.blocks}

    @cached_property
    def _places(self) -> dict[Value, tuple[Block, int]]:
        """The block that defines a value, and how far down the function's text that is."""
        found: dict[Value, tuple[Block, int]] = {}
        _number(self._function.body, found)
        return found

    def _carried_meet(self, a: Value, b: Value) -> bool:
        """Two arrays that a loop only passes round (u, v = v, u) are apart if all that may stand there start apart."""
        (loop, mine), (other, theirs) = self._carried[a], self._carried[b]
        if loop is not other:
            return True
        return any(self.meet(x, y) for i, x in mine for j, y in theirs if i != j)


def _number(block: Block, found: dict[Value, tuple[Block, int]]) -> None:
    for value in block.params:
        found[value] = block, len(found)
    for op in block.ops:
        for inner in op.blocks:
            _number(inner, found)
        for value in op.results:
            found[value] = block, len(found)


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


class Origins:
    """Where the arrays of one function come from, through views, merges and local buffers."""

    def __init__(self, function: Function) -> None:
        self._from: dict[Value, list[Value]] = {}
        for op in function.body.walk():
            self._enter(op)
        for value in _shared_buffers(function):  # others may fill them
            self._from.pop(value, None)

    def of(self, value: Value) -> set[Value]:
        """Allocations, parameters of the function, and what else yields a reference."""
        found: set[Value] = set()
        seen, pending = {value}, [value]
        while pending:
            current = pending.pop()
            sources = self._from.get(current)
            if sources is None:
                found.add(current)
                continue
            pending += [v for v in sources if v not in seen]
            seen.update(sources)
        return found

    def _add(self, value: Value, *sources: Value) -> None:
        if isinstance(value.type, ArrayRef):
            self._from.setdefault(value, []).extend(sources)

    def _enter(self, op: Op) -> None:
        match op.name:
            case name if name in VIEWS:
                self._add(op.result, op.operands[0])
            case "select":
                self._add(op.result, *op.operands[1:])
            case "if":
                for result, *sources in zip(op.results, *(b.results for b in op.blocks), strict=True):
                    self._add(result, *sources)
            case "for" | "while":
                fixed = 1 if op.name == "for" else 0
                merged = zip(op.operands[fixed:], op.blocks[-1].results, op.results, strict=True)
                for place, (start, following, result) in enumerate(merged):
                    for value in (result, *(block.params[fixed + place] for block in op.blocks)):
                        self._add(value, start, following)
            case "buffer":
                self._from[op.result] = []
            case "buffer_get" if op.operands[0] in self._from:
                self._add(op.result, op.operands[0])
            case "buffer_put" if op.operands[0] in self._from:
                self._from[op.operands[0]].append(op.operands[2])


def _shared_buffers(function: Function) -> set[Value]:
    """Buffers that more is done with than to put and get."""
    blocks = [function.body, *(block for op in function.body.walk() for block in op.blocks)]
    found = {v for block in blocks for v in block.results if isinstance(v.type, Buffer)}
    for op in function.body.walk():
        plain = op.operands[:1] if op.name in ("buffer_put", "buffer_get", "free") else []
        found.update(v for v in op.operands if isinstance(v.type, Buffer) and v not in plain)
    return found
