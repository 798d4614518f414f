"""Which arrays are small enough to live in registers: literal shapes, what each view shows, and where arrays merge.

    a = array_zeros 2, 3                object A of 6 elements; a shows [[0, 1, 2], [3, 4, 5]]
    r = view_index{0} a, 1              r shows [3, 4, 5] of A
    s = for n, r: body (k, t) yield w   objects T, S for t and s; one class {A, T, S, the object of w}

A class may be promoted if all that is done to it can be done element by element, and it leaves the function at most
once.  Where control merges arrays, the merged values stand for the same memory as what flows in.  So either all writes
come before the first merge, and from there on the elements are mere values; or no array is used any more after it has
flowed on, so that there is one name for each memory at any time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pullback.analysis.effects import VIEWS, elementwise_inputs, elementwise_targets
from pullback.ir.node import Block, Function, Op, Value
from pullback.ir.walk import count_ops
from pullback.types import ArrayRef

__all__ = ["Layout", "Layouts", "Object", "space_of"]

MOST_ELEMENTS = 32
MOST_OPS = 192  # that one op may become
MOST_PRODUCTS = 64
_NEVER = 1 << 60


@dataclass(slots=True, eq=False)
class Object:
    """Some memory: an allocation, or what control merges (then it is one of several).

    depth: the nesting of the block that makes it.  last_write, last_use, first_merge: positions in that block.
    flows: the merges that it flows into.  shared: what it flows into is not the only name of the memory.
    """

    shape: tuple[int, ...]
    depth: int
    merged: bool
    last_write: int = -1
    last_use: int = -1
    first_merge: int = _NEVER
    flows: set[tuple[Op, int, bool]] = field(default_factory=set)
    shared: bool = False
    parent: Object | None = None
    # Of the class, at its representative:
    members: list[Object] = field(default_factory=list)
    bad: bool = False
    used: bool = False
    returned: int = 0

    def alone(self) -> bool:
        """Nobody uses the memory under this name once it has flowed on."""
        return not self.shared and len(self.flows) < 2 and (not self.flows or self.last_use < self.first_merge)

    def late(self) -> bool:
        """Is it written when it may have several names."""
        return self.last_write >= (0 if self.merged else self.first_merge)

    def root(self) -> Object:
        found = self
        while found.parent is not None:
            found = found.parent
        return found


@dataclass(frozen=True, slots=True)
class Layout:
    """What an array value shows: the numbers of an object's elements, in the array's shape."""

    object: Object
    grid: Any

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(map(int, self.grid.shape))


def space_of(op: Op, constants: dict[Value, int]) -> tuple[int, ...] | None:
    """The literal sizes of an elementwise op."""
    sizes = [constants.get(v) for v in op.operands[: int(str(op.attrs["rank"]))]]
    return None if any(n is None or n < 0 for n in sizes) else tuple(n for n in sizes if n is not None)


class Layouts:
    """The layouts of a function's small arrays and the objects that may be promoted.

    `written[op]`: the objects from outside a structured op that something inside it writes.
    `products[op]`: the rows, the terms of each sum, and the columns of a product that may be written out.
    """

    def __init__(self, function: Function) -> None:
        self._uneven: set[Value] = set()  # merged arrays that have several shapes
        known = -1
        while len(self._uneven) > known:  # sizes may have been taken from them before that was found
            known = len(self._uneven)
            self._walk(function)
        self._judge()

    def _walk(self, function: Function) -> None:
        self.of: dict[Value, Layout] = {}
        self.written: dict[Op, list[Object]] = {}
        self.products: dict[Op, tuple[int, int, int]] = {}
        self.constants: dict[Value, int] = {}
        self._expanded: dict[Value, int] = {}
        self._positions: list[int] = []
        self._stack: list[tuple[Op, Block]] = []
        self._pairs: list[tuple[Object, Object]] = []
        self._objects: list[Object] = []
        self._values: dict[Object, Value] = {}
        self._collect(function.body)
        self._block(function.body)
        for value in function.body.results:
            if value in self.of:
                o = self.of[value].object
                o.root().returned += 1
                o.last_use = len(function.body.ops)

    def promoted(self, value: Value) -> Layout | None:
        """The layout of an array that lives in registers."""
        layout = self.of.get(value)
        return None if layout is None or layout.object.root().bad else layout

    def any(self) -> bool:
        return any(not o.root().bad for o in self._objects)

    def _collect(self, block: Block) -> None:
        for op in block.walk():
            if op.name == "const" and type(op.attrs["value"]) is int:
                self.constants[op.result] = op.attrs["value"]

    def _judge(self) -> None:
        for a, b in self._pairs:  # whether they are the same memory is known where neither is one of several
            if a is not b and a.root() is b.root() and (a.merged or b.merged):
                a.root().bad = True
        for o in self._objects:
            root = o.root()
            root.members.append(o)
            if root.returned > 1 or (root.returned and not root.used):
                root.bad = True
        for o in self._objects:
            members = o.root().members
            if o.late() and not all(m.alone() for m in members):
                o.root().bad = True

    # -------------------------------------------------------------------------------------------------- noting

    def _make(self, value: Value, shape: tuple[int, ...], *, merged: bool = False) -> Object | None:
        count = int(np.prod(shape, dtype=np.int64))
        if count > MOST_ELEMENTS or value in self._uneven:
            return None
        found = Object(shape, len(self._positions) - 1, merged)
        self._objects.append(found)
        self._values[found] = value
        self.of[value] = Layout(found, np.arange(count).reshape(shape))
        return found

    def _union(self, a: Object, b: Object) -> None:
        first, second = a.root(), b.root()
        if first is not second:
            second.parent = first
            first.bad |= second.bad
            first.used |= second.used
            first.returned += second.returned

    def _bad(self, value: Value) -> None:
        if value in self.of:
            self.of[value].object.root().bad = True

    def _use(self, value: Value) -> None:
        if value in self.of:
            o = self.of[value].object
            o.root().used = True
            o.last_use = max(o.last_use, self._positions[o.depth])

    def _write(self, value: Value) -> None:
        layout = self.of.get(value)
        if layout is None:
            return
        o = layout.object
        o.last_write = max(o.last_write, self._positions[o.depth])
        o.last_use = max(o.last_use, o.last_write)
        for op, block in self._stack[o.depth :]:
            if op.name == "while" and block is op.blocks[0]:
                o.root().bad = True  # what a condition does does not reach the body
            objects = self.written.setdefault(op, [])
            if o not in objects:
                objects.append(o)

    def _merge(self, source: Value, target: Object | None, flow: tuple[Op, int, bool]) -> None:
        """Memory of `source` flows into the object.  `flow`: the op, the place, is it at the end of a loop's body."""
        layout = self.of.get(source)
        if layout is None or target is None or layout.shape != target.shape:
            self._bad(source)
            if target is not None:
                target.root().bad = True
                self._uneven.add(self._values[target])
            return
        o = layout.object
        o.first_merge = min(o.first_merge, self._positions[o.depth])
        o.flows.add(flow)
        if any(op.name != "if" for op, _ in self._stack[o.depth :]):
            o.shared = True  # each trip flows from the same memory
        o.root().used = True
        self._union(o, target)

    # -------------------------------------------------------------------------------------------------- the walk

    def _block(self, block: Block) -> None:
        self._positions.append(0)
        for position, op in enumerate(block.ops):
            self._positions[-1] = position
            self._op(op)
        self._positions[-1] = len(block.ops)
        # The caller notes what the block yields, then drops the position.

    def _nested(self, op: Op, block: Block, merges: Iterator[tuple[Value, Object | None]]) -> None:
        """Walk a block of a structured op; `merges`: which objects receive what it yields."""
        self._stack.append((op, block))
        self._block(block)
        for place, (source, target) in enumerate(merges):
            self._merge(source, target, (op, place, True))
        self._positions.pop()
        self._stack.pop()

    def _op(self, op: Op) -> None:
        name = op.name
        if name in ("if", "for", "while"):
            self._structured(op)
        elif name in ("array_zeros", "array_empty"):
            sizes = [self.constants.get(v, -1) for v in op.operands]
            if all(n >= 0 for n in sizes):
                self._make(op.result, tuple(sizes))
        elif name in VIEWS:
            self._view(op)
        elif name in ("array_get", "array_inc", "array_swap"):
            self._element(op)
        elif name == "elementwise":
            self._elementwise(op)
        elif name in ("matmul", "matmul_inc"):
            self._product(op)
        elif name in ("array_same", "array_overlap"):
            layouts = [self.of.get(v) for v in op.operands]
            self._pairs += [(a.object, b.object) for a, b in [layouts] if a is not None and b is not None]
        elif name == "array_size":
            layout = self.of.get(op.operands[0])
            if layout is not None:
                self.constants[op.result] = layout.shape[int(str(op.attrs["axis"]))]
        elif name != "free":
            for value in op.operands:
                self._bad(value)

    def _view(self, op: Op) -> None:
        array, *rest = op.operands
        if op.name == "view_expand":
            self._expanded[op.result] = int(str(op.attrs["axis"]))
        layout = self.of.get(array)
        if layout is None:
            return
        grid = _shown(op, layout.grid, [self.constants.get(v) for v in rest])
        if grid is None:
            self._bad(array)
        else:
            self.of[op.result] = Layout(layout.object, grid)

    def _element(self, op: Op) -> None:
        layout = self.of.get(op.operands[0])
        if layout is None:
            return
        indices = [self.constants.get(v, -1) for v in op.operands[1 : 1 + len(layout.shape)]]
        if not all(0 <= i < n for i, n in zip(indices, layout.shape, strict=True)):
            self._bad(op.operands[0])
        elif op.name == "array_get":
            self._use(op.operands[0])
        else:
            self._write(op.operands[0])

    def _elementwise(self, op: Op) -> None:
        space = space_of(op, self.constants)
        arrays = [v for v in (*elementwise_inputs(op), *elementwise_targets(op)) if v in self.of]
        count = int(np.prod(space, dtype=np.int64)) if space is not None else _NEVER
        fits = space is not None and all(_fits(self.of[v].shape, space) for v in arrays)
        if space is None or not fits or count > MOST_ELEMENTS or count * count_ops(op.blocks[0]) > MOST_OPS:
            for value in arrays:
                self._bad(value)
            return
        for value in elementwise_inputs(op):
            self._use(value)
        for value in elementwise_targets(op):
            self._write(value)
        for value in op.results:
            if isinstance(value.type, ArrayRef):
                self._make(value, space)

    def _product(self, op: Op) -> None:
        *target, a, b = op.operands
        x, y = self._sides(a), self._sides(b)
        m, k, n = x[0], max(x[1], y[0]), y[1]
        layouts = [self.of.get(v) for v in op.operands]
        fits = {x[1], y[0]} <= {k, -1} and all(t not in self.of or self.of[t].shape == (m, n) for t in target)
        if min(m, k, n) < 0 or not fits or m * k * n > MOST_PRODUCTS or not any(layouts):
            for value in op.operands:
                self._bad(value)
            return
        self.products[op] = (m, k, n)
        self._use(a)
        self._use(b)
        for value in target:
            self._write(value)
        for value in op.results:
            self._make(value, (m, n))

    def _sides(self, matrix: Value) -> tuple[int, int]:
        """The sizes of a factor; -1 for those that are not known.  A vector has one of size 1."""
        layout = self.of.get(matrix)
        if layout is not None:
            rows, columns = layout.shape
            return rows, columns
        axis = self._expanded.get(matrix)
        return (1 if axis == 0 else -1), (1 if axis == 1 else -1)

    def _structured(self, op: Op) -> None:
        if op.name == "if":
            self._branches(op)
            return
        fixed = 1 if op.name == "for" else 0
        inits = op.operands[fixed:]
        for group in zip(op.results, *(block.params[fixed:] for block in op.blocks), strict=True):
            if not self._uneven.isdisjoint(group):  # all stand for one variable of the program
                self._uneven.update(group)
        entered: dict[Block, list[Object | None]] = {}
        for block in op.blocks:
            self._positions.append(0)  # parameters belong to the block
            params = zip(inits, block.params[fixed:], strict=True)
            entered[block] = [self._entered(init, param) for init, param in params]
            self._positions.pop()
        for block in op.blocks:
            for place, (init, target) in enumerate(zip(inits, entered[block], strict=True)):
                self._merge(init, target, (op, place, False))
        results = [self._entered(init, value) for init, value in zip(inits, op.results, strict=True)]
        for place, (init, target) in enumerate(zip(inits, results, strict=True)):
            self._merge(init, target, (op, place, False))
        last = op.blocks[-1]
        for block in op.blocks:
            self._nested(op, block, zip(block.results, entered[block], strict=True) if block is last else iter(()))

    def _entered(self, init: Value, value: Value) -> Object | None:
        """An object for a carried value, of the shape that it starts with."""
        layout = self.of.get(init)
        return None if layout is None else self._make(value, layout.shape, merged=True)

    def _branches(self, op: Op) -> None:
        for block in op.blocks:
            self._nested(op, block, iter(()))
        for place, (value, *sources) in enumerate(zip(op.results, *(b.results for b in op.blocks), strict=True)):
            layouts = [self.of.get(v) for v in sources]
            first = layouts[0]
            target = None if first is None else self._make(value, first.shape, merged=True)
            for source, block in zip(sources, op.blocks, strict=True):
                self._positions.append(len(block.ops))
                self._stack.append((op, block))
                self._merge(source, target, (op, place, False))
                self._stack.pop()
                self._positions.pop()


def _fits(shape: tuple[int, ...], space: tuple[int, ...]) -> bool:
    """Can an array of the shape be read over the space; what stands behind a check that fails may not."""
    return all(n in (1, m) for n, m in zip(reversed(shape), reversed(space), strict=False))


def _shown(op: Op, grid: Any, numbers: list[int | None]) -> Any:
    """The elements that a view of an array with these elements shows; None if that is not known now."""
    if any(n is None for n in numbers):
        return None
    known = [n for n in numbers if n is not None]
    axis: Any = op.attrs.get("axis", 0)
    match op.name:
        case "view_index":
            return np.take(grid, known[0], axis) if 0 <= known[0] < grid.shape[axis] else None
        case "view_expand":
            return np.expand_dims(grid, axis)
        case "view_transpose":
            return grid.transpose(op.attrs["perm"])
        case "view_slice":
            start, count, step = known
            places = [start + k * step for k in range(count)]
            return np.take(grid, places, axis) if all(0 <= p < grid.shape[axis] for p in places) else None
        case "view_reshape":
            return grid.reshape(known) if int(np.prod(known, dtype=np.int64)) == grid.size else None
        case "view_diagonal":
            return np.diagonal(grid, axis1=-2, axis2=-1)
        case _:
            return grid
