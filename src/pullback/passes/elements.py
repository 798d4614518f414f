"""Touches an element of memory once where the reverse half would touch it several times in a row.

    v = array_swap c, i, j, 0.0              v = array_get c, i, j
    a = mul v, x                             a = mul v, x
    array_inc c, i, j, a               ->    array_swap c, i, j, (add a, v)
    array_inc c, i, j, v
    array_inc c, i, k, a                     array_inc c, i, k, a

    array_inc c, i, a;  v = array_swap c, i, 0.0       ->       w = array_swap c, i, 0.0;  v = add w, a

Storing to an element and reading it again at once costs the processor several times an addition.  Only derivatives add
to elements in place, and their parts may be added in any order; between two of these ops nothing may read the element.
"""

from __future__ import annotations

from collections.abc import Sequence

from pullback.analysis.effects import VIEWS
from pullback.analysis.overlap import Overlap
from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.prims import get
from pullback.types import ArrayRef

__all__ = ["run"]

_ELEMENT = frozenset({"array_get", "array_inc", "array_swap"})
_BEFORE = {"array_inc": ("array_inc", "array_swap"), "array_swap": ("array_inc",)}
_ELSEWHERE = VIEWS | {"buffer_get", "buffer_put", "array_size"}  # touch no element of an array


def run(function: Function, program: Program) -> None:
    """Merge accesses in every block of the function."""
    if any(op.name == "array_inc" for op in function.body.walk()):
        _Merger(Overlap(function, program)).block(function.body)


class _Merger:
    def __init__(self, overlap: Overlap) -> None:
        self.overlap = overlap

    def block(self, block: Block) -> None:
        """Each addition takes the access before it along."""
        used = {v for op in block.walk() for v in op.operands}
        used.update(v for op in block.walk() for inner in op.blocks for v in inner.results)
        used.update(block.results)
        position = 0
        while position < len(block.ops):
            op = block.ops[position]
            for inner in op.blocks:
                self.block(inner)
            place = self.earlier(block.ops, position) if op.name in ("array_inc", "array_swap") else None
            if place is None:
                position += 1
                continue
            position += self.merge(block, place, position, used)

    def earlier(self, ops: Sequence[Op], position: int) -> int | None:
        """The last access to the same element, if it may as well happen here."""
        op = ops[position]
        array, indices = op.operands[0], _indices(op)
        passed: list[Op] = []
        for place in range(position - 1, -1, -1):
            other = ops[place]
            if other.name not in _ELEMENT:
                if other.blocks or (other.prim.effects and other.name not in _ELSEWHERE):
                    return None
                continue
            if other.operands[0] is array and _indices(other) == indices:
                return place if other.name in _BEFORE[op.name] and self.may_wait(other, passed) else None
            if other.name != "array_inc" and self.same(other, op):
                return None
            passed.append(other)
        return None

    def may_wait(self, op: Op, passed: Sequence[Op]) -> bool:
        """Additions may be done in any order; a new content has to come before what is added to it."""
        return op.name == "array_inc" or not any(self.same(op, p) for p in passed)

    def same(self, a: Op, b: Op) -> bool:
        """May two ops touch one element."""
        if a.operands[0] is not b.operands[0]:
            return self.overlap.meet(a.operands[0], b.operands[0])
        pairs = zip(map(self.offset, _indices(a)), map(self.offset, _indices(b)), strict=True)
        return not any(x[0] is y[0] and x[1] != y[1] for x, y in pairs)

    def offset(self, index: Value) -> tuple[Value | None, int]:
        """The index as a value and a constant that is added to it."""
        op = self.overlap.maker.get(index)
        if op is not None and op.name == "const":
            return None, int(str(op.attrs["value"]))
        if op is not None and op.name in ("add", "sub"):
            step = self.overlap.maker.get(op.operands[1])
            if step is not None and step.name == "const":
                amount = int(str(step.attrs["value"]))
                return op.operands[0], amount if op.name == "add" else -amount
        return index, 0

    def merge(self, block: Block, place: int, position: int, used: set[Value]) -> int:
        """Let the op do what the access before it does; by how much later ops have moved."""
        first, op = block.ops[place], block.ops[position]
        if op.name == "array_swap":
            return self.taken(block, place, position, used)
        part, content = op.operands[-1], first.operands[-1]
        new: list[Op] = []
        if not self.is_zero(content):
            part = Value(part.type)
            new.append(Op(get("add"), [content, op.operands[-1]], [part], span=op.span))
        if first.name == "array_inc":
            new.append(Op(op.prim, [*op.operands[:-1], part], span=op.span))
            block.ops[place : position + 1] = [*block.ops[place + 1 : position], *new]
            return len(new) - 2
        new.append(Op(first.prim, [*op.operands[:-1], part], [Value(first.result.type)], span=op.span))
        old: list[Op] = []
        if first.result in used:
            old.append(Op(get("array_get"), first.operands[:-1], first.results, span=first.span))
        block.ops[place : position + 1] = [*old, *block.ops[place + 1 : position], *new]
        return len(old) + len(new) - 2

    def taken(self, block: Block, place: int, position: int, used: set[Value]) -> int:
        """What is added before a new content comes is added to the old one."""
        first, op = block.ops[place], block.ops[position]
        old, result = Value(op.result.type), op.result
        op.results = [old]
        used.add(old)
        total = Op(get("add"), [old, first.operands[-1]], [result], span=first.span)
        block.ops[place : position + 1] = [*block.ops[place + 1 : position], op, total]
        return 0

    def is_zero(self, value: Value) -> bool:
        op = self.overlap.maker.get(value)
        return op is not None and op.name == "const" and op.attrs["value"] == 0.0


def _indices(op: Op) -> list[Value]:
    """The indices of an access to an element."""
    type_ = op.operands[0].type
    assert isinstance(type_, ArrayRef)
    return op.operands[1 : 1 + type_.rank]
