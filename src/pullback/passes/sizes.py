"""Sizes of arrays that loops and branches carry, where all the arrays that may stand there have the same.

    u = copy a; v = copy a                                    u = copy a; v = copy a
    for n, u, v: body (k, u1, v1)                             for n, u, v: body (k, u1, v1)
      s = array_size u1                           ->            (uses of s are uses of the size of a)
      ...; yield v1, u1                                         ...; yield v1, u1

Found as the largest set of assumptions "this carried array has the sizes of the one it starts from" that every trip
keeps; sizes are values defined outside the loop, where they are asked for if nothing has done so.  What is taken out of
a buffer has the sizes of all that has been put there.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.ir.walk import substitute, uses
from pullback.prims.base import get
from pullback.types import I64, ArrayRef, Buffer

__all__ = ["run"]

Sizes = tuple[Value | None, ...]


def run(function: Function, program: Program) -> None:
    """Replace `array_size` of carried arrays by the sizes they are known to have."""
    carries = any(
        op.name in ("for", "while", "if") and any(isinstance(v.type, ArrayRef) for v in op.results)
        for op in function.body.walk()
    )
    if carries:
        _Sizes(_Buffers(function)).function(function)


class _Buffers:
    """Buffers that nothing but puts, gets and frees refers to, and the values that every block sees."""

    def __init__(self, function: Function) -> None:
        self.everywhere = {*function.body.params, *(v for op in function.body.ops for v in op.results)}
        count = uses(function.body)
        accesses: dict[Value, list[Op]] = {}
        for op in function.body.walk():
            if op.name in ("buffer_put", "buffer_get", "free") and isinstance(op.operands[0].type, Buffer):
                accesses.setdefault(op.operands[0], []).append(op)
        self.puts = {
            buffer: {op for op in ops if op.name == "buffer_put"}
            for buffer, ops in accesses.items() if len(ops) == count[buffer]
        }  # fmt: skip


class _Sizes:
    def __init__(self, buffers: _Buffers) -> None:
        self.buffers = buffers
        self.stored: dict[Op, Sizes] = {}  # the sizes of what was put into buffers
        self.known: dict[Value, Sizes] = {}
        self.size_of: dict[tuple[Value, int], Value] = {}  # the first array_size of an array's axis
        self.mapping: dict[Value, Value] = {}

    def function(self, function: Function) -> None:
        self.block(function.body)
        resolved = {old: self.final(new) for old, new in self.mapping.items()}
        substitute(function.body, resolved)

    def final(self, value: Value) -> Value:
        while value in self.mapping:
            value = self.mapping[value]
        return value

    def block(self, block: Block) -> None:
        outside = dict(self.size_of)
        for op in list(block.ops):
            if op.name in ("for", "while"):
                self.ask(block, op, op.operands)
            elif op.name == "if" and any(isinstance(v.type, ArrayRef) for v in op.results):
                inside = {r for branch in op.blocks for inner in branch.ops for r in inner.results}
                self.ask(block, op, [v for branch in op.blocks for v in branch.results if v not in inside])
            if op.name == "for":
                self.loop(op, op.operands[1:], [op.blocks[0].params[1:]], op.blocks[0])
            elif op.name == "while":
                self.loop(op, op.operands, [op.blocks[0].params, op.blocks[1].params], op.blocks[1])
            elif op.name == "if":
                self.branches(op)
            elif op.name != "elementwise":
                for inner in op.blocks:
                    self.block(inner)
            self.record(op)
        self.size_of = outside  # sizes that were asked for in the block are not known outside

    def ask(self, block: Block, op: Op, arrays: Sequence[Value]) -> None:
        """Before a loop: the sizes of the arrays that it starts from; before an `if`: of those that it may choose."""
        for value in arrays:
            for axis in range(value.type.rank if isinstance(value.type, ArrayRef) else 0):
                if self.axis(value, axis) is None:
                    size = Op(get("array_size"), [value], [Value(I64)], {"axis": axis}, span=op.span)
                    block.ops.insert(block.ops.index(op), size)
                    self.record(size)

    def record(self, op: Op) -> None:
        """What the op says of sizes."""
        if op.name == "array_size":
            axis = int(str(op.attrs["axis"]))
            size = self.axis(op.operands[0], axis)
            if size is not None and size is not op.result:
                self.mapping[op.result] = size
            else:
                self.size_of.setdefault((op.operands[0], axis), op.result)
            return
        if op.name == "buffer_put" and isinstance(op.operands[2].type, ArrayRef):
            everywhere = self.buffers.everywhere
            self.stored[op] = tuple(s if s in everywhere else None for s in self.sizes(op.operands[2]))
        for value in op.results:
            sizes = self.made(op, value)
            if sizes is not None:
                self.known[value] = sizes

    def made(self, op: Op, value: Value) -> Sizes | None:
        if not isinstance(value.type, ArrayRef):
            return None
        rank = value.type.rank
        match op.name:
            case "array_zeros" | "array_empty" | "elementwise":
                return tuple(map(self.final, op.operands[:rank]))
            case "view_reshape":
                return tuple(map(self.final, op.operands[1:]))
            case "view_relax":
                return self.sizes(op.operands[0])
            case "view_slice":
                sizes = list(self.sizes(op.operands[0]))
                sizes[int(str(op.attrs["axis"]))] = self.final(op.operands[2])
                return tuple(sizes)
            case "view_index":
                sizes = list(self.sizes(op.operands[0]))
                del sizes[int(str(op.attrs["axis"]))]
                return tuple(sizes)
            case "view_transpose":
                sizes, perm = list(self.sizes(op.operands[0])), op.attrs["perm"]
                assert isinstance(perm, tuple)
                return tuple(sizes[axis] for axis in perm)
            case "buffer_get":
                return self.taken(op.operands[0])
        return None

    def taken(self, buffer: Value) -> Sizes | None:
        """What all that is ever put into a buffer has in common, once that is known."""
        puts = self.buffers.puts.get(buffer)
        if not puts or not all(put in self.stored for put in puts):
            return None
        return reduce(_agree, (self.stored[put] for put in puts))

    def sizes(self, value: Value) -> Sizes:
        assert isinstance(value.type, ArrayRef)
        return tuple(self.axis(value, axis) for axis in range(value.type.rank))

    def axis(self, value: Value, axis: int) -> Value | None:
        found = self.known.get(value)
        if found is not None and found[axis] is not None:
            return found[axis]
        size = self.size_of.get((value, axis))
        return self.final(size) if size is not None else None

    # ---------------------------------------------------------------------------------------------------- loops

    def loop(self, op: Op, starts: Sequence[Value], params: Sequence[Sequence[Value]], body: Block) -> None:
        """Assume that carried arrays keep the sizes of what they start from; drop what a trip contradicts."""
        places = [i for i, v in enumerate(starts) if isinstance(v.type, ArrayRef)]
        assumed: dict[int, Sizes] = {i: self.sizes(starts[i]) for i in places}
        while True:
            trial = _Sizes(self.buffers)
            trial.known, trial.size_of, trial.mapping = dict(self.known), dict(self.size_of), dict(self.mapping)
            trial.stored = dict(self.stored)
            for row in params:
                for i in places:
                    trial.known[row[i]] = assumed[i]
            for block in op.blocks:
                trial.block(block)
            kept = {i: _agree(assumed[i], trial.sizes(body.results[i])) for i in places}
            if kept == assumed:
                break
            assumed = kept
        self.mapping, self.stored = trial.mapping, trial.stored
        for row in (*params, op.results):
            for i in places:
                self.known[row[i]] = assumed[i]

    def branches(self, op: Op) -> None:
        sizes = []
        for block in op.blocks:
            self.block(block)
            sizes.append([self.sizes(v) if isinstance(v.type, ArrayRef) else None for v in block.results])
        inside = {r for block in op.blocks for inner in block.walk() for r in inner.results}
        for value, a, b in zip(op.results, *sizes, strict=True):
            if a is not None and b is not None:
                self.known[value] = tuple(s if s not in inside else None for s in _agree(a, b))


def _agree(a: Sizes, b: Sizes) -> Sizes:
    return tuple(x if x is y else None for x, y in zip(a, b, strict=True))
