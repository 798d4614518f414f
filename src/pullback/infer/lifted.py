"""The typed ops of an operation on scalars and cells as a function of untyped IR, whose primitives J knows one by one.

    x / y      check (ne y 0); div x y      ->      py.prim{check}(py.prim{ne}(y, 0.0)); py.prim{div}(x, y)
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from pullback.analysis.effects import VIEWS
from pullback.infer.engine import Branch, Frame, Specialization
from pullback.infer.machine_values import leaves
from pullback.infer.made import function
from pullback.infer.sites import ShadowsWanted
from pullback.infer.stored import MEMORY
from pullback.infer.values import AV
from pullback.ir.build import Builder
from pullback.ir.node import Block, Function, Op, Value
from pullback.ir.walk import free_values
from pullback.prims.backward import lift
from pullback.prims.base import NOT_DIFFERENTIABLE, Prim, get
from pullback.types import BOOL, I64, ArrayRef, Machine, Scalar, Type, is_float, slots

__all__ = ["Lifted"]

# What J knows of arrays with shadows (`ad.arrays`).
ARRAYS = VIEWS | {
    "array_size", "array_get", "array_swap", "array_inc", "array_zeros", "array_empty", "array_overlap", "array_same",
    "array_contiguous", "array_fits", "array_beside", "elementwise", "matmul", "matmul_inc",
}  # fmt: skip


class Lifted:
    """The typed ops of an operation on scalars and cells as a function of untyped IR, from operands to results."""

    def __init__(self, cx: Frame, name: str, params: Sequence[AV], branch: Branch) -> None:
        self.cx, self.name, self.params, self.branch = cx, name, params, branch
        self.values: dict[Value, Value] = {}

    def function(self) -> Function | None:
        """None where there is more than scalars to it."""
        ops = self.used()
        if not self.cx.session.shadowed and any(map(_stores_arrays, Block((), ops).walk())):
            raise ShadowsWanted(overwrites=False)
        if not all(self.simple(op) for op in ops):
            return None
        params = [Value(None, f"x{i}") for i in range(len(self.params))]
        builder = Builder(Block(params), self.cx.span)
        for param, av in zip(params, self.params, strict=True):
            self.unpack(builder, param, av.type, av.values)
        self.ops(builder, ops)
        results = [self.packed(builder, av.type, av.values) for av in self.branch.results]
        if len(results) != 1:
            results = builder.append_untyped(get("py.tuple"), results).results
        return function(self.name, params, builder, results)

    def used(self) -> list[Op]:
        """The ops that the results need, and those with effects."""
        needed = {v for av in self.branch.results for v in av.values}
        found: list[Op] = []
        for op in reversed(self.branch.block.ops):
            inside = [inner for block in op.blocks for inner in block.walk()]
            effects = any(inner.prim.effects for inner in (op, *inside))
            if effects or any(v in needed for v in op.results):
                found.append(op)
                needed.update(op.operands)
                needed.update(v for block in op.blocks for v in free_values(block))
        return found[::-1]

    def simple(self, op: Op) -> bool:
        if op.name == "if":
            return all(self.simple(inner) for block in op.blocks for inner in block.ops)
        if op.name == "call":
            spec = self.callee(op)
            return spec is not None and spec.code.python is not None and spec.code.stated is None
        prim = op.prim
        if op.name in ARRAYS and self.cx.session.shadowed:
            return not any(free_values(block) for block in op.blocks)
        if op.name == "reshape" and self.cx.session.shadowed:
            return not any(op.attrs.get(name) for name in ("foreign", "readonly", "spread"))
        if op.name in MEMORY:
            return all(isinstance(v.type, Scalar | ArrayRef) for v in (*op.operands[1:], *op.results))
        if not isinstance(prim, Prim) or prim.effects - {"raise"} or prim.derivative == "structural":
            return False
        floats = [v for v in (*op.operands, *op.results) if v.type is not None and is_float(v.type)]
        return prim.derivative == NOT_DIFFERENTIABLE or all(isinstance(v.type, Scalar) for v in floats)

    def callee(self, op: Op) -> Specialization | None:
        return next((s for s in self.cx.session.order if s.name == op.attrs["callee"]), None)

    def unpack(self, builder: Builder, whole: Value, type_: Type, values: Sequence[Value]) -> None:
        if not values:
            return
        parts = builder.append_untyped(get("py.flat"), [whole], attrs={"type": type_}).result
        for index, value in enumerate(self.first(type_, values)):
            item = builder.append_untyped(get("py.part"), [parts], attrs={"index": index}).result
            self.values[value] = item

    def first(self, type_: Type, values: Sequence[Value]) -> list[Value]:
        """The machine values; an array with a shadow, which what is lifted only hands on, is one."""
        if not self.cx.session.shadowed:
            return list(values)
        widths = [len(slots(leaf)) for leaf in leaves(self.cx, type_)]
        return [values[place - width] for place, width in zip(itertools.accumulate(widths), widths, strict=True)]

    def packed(self, builder: Builder, type_: Type, values: Sequence[Value]) -> Value:
        operands = [self.values[v] for v in self.first(type_, values)]
        return builder.append_untyped(get("py.regrouped"), operands, attrs={"type": type_}).result

    def ops(self, builder: Builder, ops: Sequence[Op]) -> None:
        for op in ops:
            if op.name == "if":
                self.conditional(builder, op)
            elif op.name == "call":
                self.call(builder, op)
            elif op.name == "reshape":
                self.reshape(builder, op)
            else:
                self.values.update(zip(op.results, lift(builder, op, self.values), strict=True))

    def conditional(self, builder: Builder, op: Op) -> None:
        blocks: list[Block] = []
        for inner in op.blocks:
            nested = Builder(Block(), builder.span)
            self.ops(nested, inner.ops)
            nested.block.results = [self.values[v] for v in inner.results]
            blocks.append(nested.block)
        made = builder.append_untyped(get("if"), [self.values[op.operands[0]]], blocks=blocks, results=len(op.results))
        self.values.update(zip(op.results, made.results, strict=True))

    def reshape(self, builder: Builder, op: Op) -> None:
        """A view where NumPy gives one, which shows when it runs (`passes.reshapes`); else a copy."""
        array, *sizes = op.operands
        whole, parts = bool(op.attrs["whole"]), [array]
        if "part" in op.attrs:
            parts, sizes = sizes[-2:], sizes[:-2]

        def prim(inner: Builder, name: str, operands: Sequence[Value], result: Machine, **attrs: object) -> Value:
            made = Op(get(name), operands, [Value(result)], attrs, [], op.span)
            self.values[made.result] = lift(inner, made, self.values)[0]
            return made.result

        asked = parts if whole else [array, *sizes]
        fits = prim(builder, "array_contiguous" if whole else "array_fits", asked, BOOL)
        whole = whole and len(parts) == 1
        result = array_type(op.result)
        then, other = Builder(Block(), op.span), Builder(Block(), op.span)
        view = prim(then, "view_reshape", [array, *sizes], result, given="whole" if whole else "fits")
        own = array_type(array)
        lengths = [prim(other, "array_size", [array], I64, axis=axis) for axis in range(own.rank)]
        param, fresh = Value(Scalar(own.dtype)), ArrayRef(own.dtype, own.rank, True)
        block, made = Block([param], [], [param]), Value(fresh)
        copy = Op(get("elementwise"), [*lengths, array], [made], {"rank": own.rank, "outputs": ("new",), "targets": 0},
                  [block], op.span)  # fmt: skip
        self.values[made] = lift(other, copy, self.values)[0]
        copied = prim(other, "view_reshape", [made, *sizes], ArrayRef(result.dtype, result.rank, True))
        if not result.contiguous:
            copied = prim(other, "view_relax", [copied], result)
        then.block.results, other.block.results = [self.values[view]], [self.values[copied]]
        chosen = builder.append_untyped(get("if"), [self.values[fits]], blocks=[then.block, other.block], results=1)
        self.values[op.result] = chosen.result

    def call(self, builder: Builder, op: Op) -> None:
        spec = self.callee(op)
        assert spec is not None
        arguments = list(_grouped(spec.parameters, op.operands))
        operands = [self.packed(builder, t, values) for t, values in arguments]
        builder.span = op.span
        callee = builder.append_untyped(get("py.function_of"), (), attrs={"code": spec.code}).result
        attrs: dict[str, object] = {"keywords": (), "bound": True}
        whole = builder.append_untyped(get("py.call"), [callee, *operands], attrs=attrs).result
        self.unpack(builder, whole, spec.result, op.results)


def _stores_arrays(op: Op) -> bool:
    """Does it access a cell that holds an array of floats, which J knows by the array's shadow."""
    machines = [v.type for v in (*op.operands, *op.results)]
    return op.name in MEMORY and any(isinstance(t, ArrayRef) and is_float(t) for t in machines)


def array_type(value: Value) -> ArrayRef:
    """The type of a value that is an array."""
    assert isinstance(value.type, ArrayRef)
    return value.type


def _grouped(types: Sequence[Type], values: Sequence[Value]) -> Iterator[tuple[Type, Sequence[Value]]]:
    position = 0
    for type_ in types:
        width = len(slots(type_))
        yield type_, values[position : position + width]
        position += width
