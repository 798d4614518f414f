"""What ops do to memory: alias classes of references, who writes and reads each class, what may be dropped or moved.

    s = array_zeros n            classes: {s, v}, written by array_inc; nothing reads it here
    v = view_index s, i          {a}: the caller's, in the class WORLD with everything that comes from or goes outside
    array_inc v, j, x
    y = array_get a, i           a read of WORLD; stable, since nothing writes WORLD

Classes are those of one flow-insensitive walk: views, selections, carried values, and everything stored in one record
or buffer join one class.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.types import ArrayRef, Box, Buffer, Machine

__all__ = [
    "ALLOCATIONS", "CALLS", "VIEWS", "Memory", "carried", "droppable_call", "elementwise_inputs", "elementwise_targets",
    "is_pure", "is_reference",
]  # fmt: skip

WORLD = Value(None, "world")
VIEWS = frozenset({
    "view_index", "view_expand", "view_transpose", "view_slice", "view_reshape", "view_diagonal", "view_relax",
})  # fmt: skip
CALLS = frozenset({"call", "value_and_grad", "jvp", "vjp", "pullback"})
ALLOCATIONS = frozenset({"array_empty", "array_zeros", "matmul", "elementwise", "buffer", "buffer_zeros"})

_INCREMENTS = frozenset({"array_inc", "array_swap", "matmul_inc", "slot_inc", "buffer_inc"})
# Ops that read the content of their reference operands.
_READERS = frozenset({"array_get", "array_swap", "buffer_get", "slot_get", "unbox", "matmul"})
# Ops through which a reference reaches another: all references among operands and results share a class.
_JOINING = VIEWS | {"select", "box", "unbox", "slot_get", "buffer_get", "buffer_put"}


def is_reference(type_: Machine | None) -> bool:
    """Does a value of this type refer to memory."""
    return isinstance(type_, ArrayRef | Box | Buffer)


def carried(op: Op) -> Iterator[tuple[Value, ...]]:
    """For each carried value of a loop, or result of an `if`: all values that stand for it, the result first."""
    if op.name == "if":
        yield from zip(op.results, op.blocks[0].results, op.blocks[1].results, strict=True)
    elif op.name == "for":
        body = op.blocks[0]
        yield from zip(op.results, op.operands[1:], body.params[1:], body.results, strict=True)
    elif op.name == "while":
        cond, body = op.blocks
        yield from zip(op.results, op.operands, cond.params, body.params, body.results, strict=True)


def is_pure(op: Op) -> bool:
    """No effects, in nested blocks either."""
    if op.prim.effects:
        return False
    return all(is_pure(inner) for block in op.blocks for inner in block.ops)


class Memory:
    """Alias classes of the references of one function, and its writes and reads by class."""

    def __init__(self, function: Function, program: Program) -> None:
        self._program = program
        self._parent: dict[Value, Value] = {}
        self.writes: dict[Value, list[Op]] = {}
        self._increased: set[Value] = set()
        self._targets: list[tuple[Op, Value]] = []
        for value in (*function.body.params, *function.body.results):
            if is_reference(value.type):
                self._union(value, WORLD)
        self._block(function.body)
        for op, target in self._targets:
            root = self.root(target)
            self.writes.setdefault(root, []).append(op)
            if op.name != "buffer_put":
                self._increased.add(root)

    def root(self, value: Value) -> Value:
        """The representative of the value's class."""
        parent = self._parent
        found = value
        while (above := parent.get(found)) is not None:
            found = above
        while value is not found:
            parent[value], value = found, parent[value]
        return found

    def world(self) -> Value:
        """The class of everything that the caller or other functions can reach."""
        return self.root(WORLD)

    def stable(self, value: Value) -> bool:
        """Is memory reached from this reference written at most once, before it is first read.

        Arrays that nothing in the function increments, and buffers: their elements are written once.
        """
        return self.root(value) not in self._increased

    def reads(self, op: Op) -> list[Value]:
        """Classes whose content the op (not its blocks) reads."""
        if op.name in CALLS:
            return [self.world(), *(self.root(v) for v in op.operands if is_reference(v.type))]
        if op.name == "matmul_inc":
            return [self.root(v) for v in op.operands[1:]]
        if op.name == "elementwise":
            return [self.root(v) for v in elementwise_inputs(op) if is_reference(v.type)]
        if op.name in _READERS:
            return [self.root(v) for v in op.operands if is_reference(v.type)]
        return []

    def _union(self, *values: Value) -> None:
        first, *rest = values
        root = self.root(first)
        for value in rest:
            other = self.root(value)
            if other is not root:
                self._parent[other] = root

    def _block(self, block: Block) -> None:
        for op in block.ops:
            name = op.name
            if op.blocks:
                self._structured(op)
            elif name in _INCREMENTS:
                self._targets.append((op, op.operands[0]))
            elif name in _JOINING:
                self._join([v for v in (*op.operands, *op.results) if is_reference(v.type)])
                if name == "buffer_put":
                    self._targets.append((op, op.operands[0]))
            elif name in CALLS:
                self._join([WORLD, *(v for v in (*op.operands, *op.results) if is_reference(v.type))])
                if _increments(str(op.attrs["callee"]), self._program, set()):
                    self._targets.append((op, WORLD))

    def _join(self, references: Sequence[Value]) -> None:
        if references:
            self._union(*references)

    def _structured(self, op: Op) -> None:
        if op.name == "elementwise":
            self._targets += [(op, target) for target in elementwise_targets(op)]
        for group in carried(op):
            if is_reference(group[0].type):
                self._union(*group)
        for block in op.blocks:
            self._block(block)


def elementwise_inputs(op: Op) -> list[Value]:
    """The operands whose elements an `elementwise` reads, one per parameter of its block."""
    rank = int(str(op.attrs["rank"]))
    return op.operands[rank : rank + len(op.blocks[0].params)]


def elementwise_targets(op: Op) -> list[Value]:
    """The operands that an `elementwise` writes, in the order of its "inc" and "set" outputs."""
    rank = int(str(op.attrs["rank"]))
    return op.operands[rank + len(op.blocks[0].params) :]


def _increments(name: str, program: Program, seen: set[str]) -> bool:
    """May a call of the function change memory that existed before (an increment of any memory counts)."""
    function = program.functions.get(name)
    if function is None:
        return True
    seen.add(name)
    for op in function.body.walk():
        if op.name in CALLS:
            callee = str(op.attrs["callee"])
            if callee not in seen and _increments(callee, program, seen):
                return True
        elif op.name in _INCREMENTS or (op.name == "elementwise" and elementwise_targets(op)):
            return True
    return False


def droppable_call(op: Op, program: Program) -> bool:
    """May a call be left out when nobody wants its results: it cannot raise, write, or recur."""
    return op.name == "pullback" or _droppable(str(op.attrs["callee"]), program, set())


def _droppable(name: str, program: Program, active: set[str]) -> bool:
    function = program.functions.get(name)
    if function is None or name in active:
        return False
    active.add(name)
    for op in function.body.walk():
        if op.name in CALLS:
            if not _droppable(str(op.attrs["callee"]), program, active):
                return False
        elif op.name == "check" or op.name in _INCREMENTS or (op.name == "elementwise" and elementwise_targets(op)):
            return False
    active.discard(name)
    return True
