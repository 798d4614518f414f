"""Small arrays of literal shape become scalars: a 3-vector in a hot loop costs no memory.

    a = array_empty 3; array_swap a, 0, x; ...        s0, s1, s2 = for n, x, y, z:
    s = for n, a:                                       body (k, p, q, r):
      body (k, p):                              ->        p1 = mul h, p; q1 = mul h, q; r1 = mul h, r
        q = elementwise{new} 3, h, p {mul}                yield p1, q1, r1
        yield q
    r = array_get s, 0                                r = s0

What may be promoted is decided in `layouts`.  Elementwise ops and products of matrices over promoted arrays are written
out; a promoted array that the function returns is made just before.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pullback.analysis.effects import VIEWS, elementwise_inputs, elementwise_targets
from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.ir.walk import clone_ops
from pullback.passes.layouts import Layout, Layouts, Object, space_of
from pullback.prims.base import Emitter, get
from pullback.types import BOOL, ArrayRef, Scalar

__all__ = ["run"]


def run(function: Function, program: Program) -> None:
    """Promote the small arrays of the function."""
    if not any(op.name in ("array_zeros", "array_empty", "elementwise") for op in function.body.walk()):
        return
    layouts = Layouts(function)
    if layouts.any():
        _Promoter(layouts).function(function)


def _element(value: Value) -> Scalar:
    assert isinstance(value.type, ArrayRef)
    return Scalar(value.type.dtype)


class _Promoter:
    """`content[object]`: its elements at this point.  `mapping`: scalars that others replace."""

    def __init__(self, layouts: Layouts) -> None:
        self.layouts = layouts
        self.content: dict[Object, list[Value]] = {}
        self.mapping: dict[Value, Value] = {}

    def function(self, function: Function) -> None:
        body = function.body
        e = self.block(body)
        for i, value in enumerate(body.results):
            if self.layouts.promoted(value) is not None:
                e.span = function.span
                body.results[i] = self.made(e, value)

    def made(self, e: Emitter, value: Value) -> Value:
        """A real array of the elements."""
        layout = self.layouts.promoted(value)
        assert layout is not None and isinstance(value.type, ArrayRef)
        array = e("array_empty", *(e.integer(n) for n in layout.shape), dtype=value.type.dtype)
        self.fill(e, array, layout.shape, self.elements(layout))
        return array if array.type == value.type else e("view_relax", array)

    def fill(self, e: Emitter, array: Value, shape: Sequence[int], elements: Sequence[Value]) -> None:
        for index, element in zip(np.ndindex(*shape), elements, strict=True):
            e.op("array_swap", array, *(e.integer(i) for i in index), element)

    def elements(self, layout: Layout) -> list[Value]:
        """What the array shows, in row-major order."""
        content = self.content[layout.object]
        return [content[i] for i in layout.grid.ravel()]

    def resolved(self, values: Sequence[Value]) -> list[Value]:
        return [self.mapping.get(v, v) for v in values]

    # -------------------------------------------------------------------------------------------------- the walk

    def block(self, block: Block) -> Emitter:
        """Rewrite the block; what it yields is still to be replaced where that is promoted."""
        ops, block.ops = block.ops, []
        e = Emitter(block)
        for op in ops:
            e.span = op.span
            op.operands = self.resolved(op.operands)
            self.op(e, op)
        block.results = self.resolved(block.results)
        return e

    def op(self, e: Emitter, op: Op) -> None:
        name = op.name
        if name in ("if", "for", "while"):
            self.structured(e, op)
        elif not self.touched(op):
            e.block.ops.append(op)
        elif name in ("array_zeros", "array_empty"):
            zero = e.constant(0, _element(op.result))
            layout = self.layouts.of[op.result]
            self.content[layout.object] = [zero] * layout.grid.size
        elif name in ("array_get", "array_inc", "array_swap"):
            self.access(e, op)
        elif name == "array_size":
            size = self.layouts.constants[op.result]
            self.mapping[op.result] = e.integer(size)
            self.layouts.constants[self.mapping[op.result]] = size
        elif name == "elementwise":
            self.elementwise(e, op)
        elif name in ("matmul", "matmul_inc"):
            self.product(e, op)
        elif name in ("array_same", "array_overlap"):
            self.mapping[op.result] = e.boolean(self.meet(op))
        else:
            assert name in VIEWS or name == "free", name

    def touched(self, op: Op) -> bool:
        promoted = self.layouts.promoted
        return any(promoted(v) is not None for v in (*op.operands, *op.results))

    def access(self, e: Emitter, op: Op) -> None:
        layout = self.layouts.of[op.operands[0]]
        rank = len(layout.shape)
        index = tuple(self.layouts.constants[v] for v in op.operands[1 : 1 + rank])
        content, place = self.content[layout.object], int(layout.grid[index])
        old = content[place]
        if op.results:
            self.mapping[op.result] = old
        if op.name == "array_swap":
            content[place] = op.operands[-1]
        elif op.name == "array_inc":
            content[place] = _plus(e, old, op.operands[-1])

    def meet(self, op: Op) -> bool:
        a, b = (self.layouts.of.get(v) for v in op.operands)
        if a is None or b is None or a.object is not b.object or not a.grid.size or not b.grid.size:
            return False
        if op.name == "array_same":
            return int(a.grid.flat[0]) == int(b.grid.flat[0])
        return bool(a.grid.min() <= b.grid.max() and b.grid.min() <= a.grid.max())

    # --------------------------------------------------------------------------------------------- array operations

    def read(self, e: Emitter, array: Value, space: tuple[int, ...]) -> list[Value]:
        """The elements that an array gives to each place of a space, in row-major order."""
        layout = self.layouts.promoted(array)
        if layout is not None:
            content = self.content[layout.object]
            return [content[i] for i in np.broadcast_to(layout.grid, space).ravel()]
        return [e("array_get", array, *self.place(e, array, index)) for index in np.ndindex(*space)]

    def place(self, e: Emitter, array: Value, index: tuple[int, ...]) -> list[Value]:
        """The index of an array in memory that lies at an index of the space; an axis of size 1 stays at 0."""
        assert isinstance(array.type, ArrayRef)
        rank, known = array.type.rank, self.layouts.of.get(array)
        found: list[Value] = []
        for axis, k in enumerate(index[len(index) - rank :]):
            if known is not None:
                found.append(e.integer(min(k, known.shape[axis] - 1)))
            elif k == 0:
                found.append(e.integer(0))
            else:
                last = e("sub", e("array_size", array, axis=axis), e.integer(1))
                found.append(e("minimum", e.integer(k), last))
        return found

    def elementwise(self, e: Emitter, op: Op) -> None:
        """All is read and computed before anything is written."""
        space = space_of(op, self.layouts.constants)
        assert space is not None
        (body,) = op.blocks
        inputs = [
            self.read(e, v, space) if isinstance(v.type, ArrayRef) else [v] * int(np.prod(space, dtype=np.int64))
            for v in elementwise_inputs(op)
        ]
        rows: list[list[Value]] = []
        for number in range(int(np.prod(space, dtype=np.int64))):
            names = {param: values[number] for param, values in zip(body.params, inputs, strict=True)}
            e.block.ops += clone_ops(body.ops, names)
            rows.append([names.get(v, v) for v in body.results])
        kinds, results, targets = op.attrs["outputs"], iter(op.results), iter(elementwise_targets(op))
        assert isinstance(kinds, tuple)
        for number, kind in enumerate(kinds):
            values = [row[number] for row in rows]
            if kind == "new":
                self.new(e, next(results), space, values)
            elif kind == "sum":
                self.total(e, next(results), values)
            else:
                self.write(e, next(targets), space, values, add=kind == "inc")

    def new(self, e: Emitter, result: Value, space: tuple[int, ...], values: list[Value]) -> None:
        layout = self.layouts.promoted(result)
        if layout is not None:
            self.content[layout.object] = values
            return
        assert isinstance(result.type, ArrayRef)
        sizes = [e.integer(n) for n in space]
        e.block.ops.append(Op(get("array_empty"), sizes, [result], {"dtype": result.type.dtype}, (), e.span))
        self.fill(e, result, space, values)

    def total(self, e: Emitter, result: Value, values: list[Value]) -> None:
        assert isinstance(result.type, Scalar)
        total = e.constant(0, result.type)
        for value in values:
            total = _plus(e, total, value)
        self.mapping[result] = total

    def write(self, e: Emitter, array: Value, space: tuple[int, ...], values: list[Value], *, add: bool) -> None:
        layout = self.layouts.promoted(array)
        if layout is not None:
            content = self.content[layout.object]
            for place, value in zip(np.broadcast_to(layout.grid, space).ravel(), values, strict=True):
                content[place] = _plus(e, content[place], value) if add else value
            return
        for index, value in zip(np.ndindex(*space), values, strict=True):
            e.op("array_inc" if add else "array_swap", array, *self.place(e, array, index), value)

    def product(self, e: Emitter, op: Op) -> None:
        *target, a, b = op.operands
        m, k, n = self.layouts.products[op]
        x, y = self.factor(e, a, (m, k)), self.factor(e, b, (k, n))
        values = [
            self.dot(e, [x[i * k + t] for t in range(k)], [y[t * n + j] for t in range(k)], _element(a))
            for i in range(m) for j in range(n)
        ]  # fmt: skip
        if target:
            self.write(e, target[0], (m, n), values, add=True)
        else:
            self.new(e, op.result, (m, n), values)

    def factor(self, e: Emitter, matrix: Value, shape: tuple[int, int]) -> list[Value]:
        """The elements of a factor, which has exactly this shape."""
        if self.layouts.promoted(matrix) is not None:
            return self.read(e, matrix, shape)
        return [e("array_get", matrix, *(e.integer(i) for i in index)) for index in np.ndindex(*shape)]

    def dot(self, e: Emitter, x: list[Value], y: list[Value], type_: Scalar) -> Value:
        times = "and_" if type_ == BOOL else "mul"
        products = [e(times, a, b) for a, b in zip(x, y, strict=True)]
        if not products:
            return e.constant(0, type_)
        total = products[0]
        for product in products[1:]:
            total = _plus(e, total, product)
        return total

    # -------------------------------------------------------------------------------------------------- control

    def structured(self, e: Emitter, op: Op) -> None:
        """Elements take the places of promoted arrays, and go along where something inside writes them."""
        written = [o for o in self.layouts.written.get(op, ()) if not o.root().bad]
        if op.name == "if":
            self.branches(e, op, written)
        else:
            self.loop(e, op, written)

    def branches(self, e: Emitter, op: Op, written: list[Object]) -> None:
        before = {o: self.content[o] for o in written}
        for block in op.blocks:
            self.content.update({o: list(c) for o, c in before.items()})
            self.block(block)
            self.expand(block.results, written)
        op.results = self.received(op.results, written)
        e.block.ops.append(op)

    def loop(self, e: Emitter, op: Op, written: list[Object]) -> None:
        self.expand(op.operands, written)
        for block in op.blocks:
            block.params = self.received(block.params, written)
            self.block(block)
        self.expand(op.blocks[-1].results, written)
        op.results = self.received(op.results, written)
        e.block.ops.append(op)

    def expand(self, values: list[Value], written: list[Object]) -> None:
        """In place: the elements of promoted arrays for the arrays, and at the end those of the written objects."""
        found: list[Value] = []
        for value in values:
            layout = self.layouts.promoted(value)
            found += [value] if layout is None else self.elements(layout)
        values[:] = found + [element for o in written for element in self.content[o]]

    def received(self, values: list[Value], written: list[Object]) -> list[Value]:
        """Fresh elements for promoted arrays among parameters or results, and for the written objects."""
        found: list[Value] = []
        for value in values:
            layout = self.layouts.promoted(value)
            if layout is None:
                found.append(value)
                continue
            elements = [Value(_element(value), value.name) for _ in range(layout.grid.size)]
            self.content[layout.object] = elements
            found += elements
        for o in written:
            fresh = [Value(v.type, v.name) for v in self.content[o]]
            self.content[o] = list(fresh)
            found += fresh
        return found


def _plus(e: Emitter, x: Value, y: Value) -> Value:
    return e("or_" if x.type == BOOL else "add", x, y)
