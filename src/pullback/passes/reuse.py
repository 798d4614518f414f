"""A fresh array that an elementwise op reads last holds the op's result: no other array is made.

    t = matmul x, w                                 t = matmul x, w
    h = elementwise{new} n, m, t, b {add, tanh}     elementwise{set} n, m, t, b, t {add, tanh}
    return h                                   ->   return t

And zeros whose first use is to receive a product of matrices are the product:

    s = array_zeros n, m; matmul_inc s, a, b        ->      s = matmul a, b

The array that is reused is made in the same block, has the same type and sizes, and is seen by nothing else afterwards:
it and its views are only read or written before, never merged by control flow, stored, or given to a call.
"""

from __future__ import annotations

from pullback.analysis.effects import VIEWS, elementwise_inputs, elementwise_targets
from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.ir.walk import substitute, uses
from pullback.prims import get
from pullback.types import ArrayRef, DType

__all__ = ["run"]

_MAKERS = frozenset({"array_empty", "array_zeros", "elementwise", "matmul"})
_BORROWERS = VIEWS | {
    "array_size", "array_get", "array_inc", "array_swap", "array_same", "array_overlap", "array_contiguous",
    "array_fits", "array_beside", "elementwise", "matmul", "matmul_inc",
}  # fmt: skip
_KEPT = 1 << 60


def run(function: Function, program: Program) -> None:
    """Reuse arrays in every block of the function, inner blocks too."""
    if any(op.name in ("elementwise", "matmul_inc") for op in function.body.walk()):
        _Reuse(function).block(function.body)


class _Reuse:
    def __init__(self, function: Function) -> None:
        self.body = function.body
        self.maker: dict[Value, Op] = {r: op for op in function.body.walk() for r in op.results}

    def block(self, block: Block) -> None:
        for op in block.ops:
            if op.name != "elementwise":
                for inner in op.blocks:
                    self.block(inner)
        self.products(block)
        position = {op: i for i, op in enumerate(block.ops)}
        last = _last_uses(block, position)
        for op in block.ops:
            if op.name == "elementwise" and "new" in _outputs(op):
                self.reuse(op, position, last)

    def reuse(self, op: Op, position: dict[Op, int], last: dict[Value, int]) -> None:
        """Replace what results of the op can be replaced."""
        for result in [v for v in op.results if isinstance(v.type, ArrayRef)]:
            for value in dict.fromkeys(elementwise_inputs(op)):
                if value.type == result.type and last.get(value) == position[op] and self.fits(op, value, position):
                    _into(op, result, value)
                    substitute(self.body, {result: value})
                    last[value] = max(last.get(result, 0), position[op])
                    break

    def fits(self, op: Op, value: Value, position: dict[Op, int]) -> bool:
        """Is it a whole array of this block, of the op's sizes, which the op sees in no other way."""
        made = self.maker.get(value)
        if made is None or made.name not in _MAKERS or made not in position or value in elementwise_targets(op):
            return False
        others = [v for v in op.operands if isinstance(v.type, ArrayRef) and v is not value]
        if any(self.base(v) is value for v in others):
            return False
        return self.sizes(made, value) == [self.size(v) for v in op.operands[: int(str(op.attrs["rank"]))]]

    def base(self, value: Value) -> Value:
        while (op := self.maker.get(value)) is not None and op.name in VIEWS:
            value = op.operands[0]
        return value

    def sizes(self, made: Op, value: Value) -> list[object]:
        assert isinstance(value.type, ArrayRef)
        return [self.axis(value, axis) for axis in range(value.type.rank)]

    def size(self, value: Value) -> object:
        """A size as the value it is, or as the array and axis that it is asked of."""
        op = self.maker.get(value)
        if op is None or op.name != "array_size":
            return value
        return self.axis(op.operands[0], int(str(op.attrs["axis"])))

    def axis(self, array: Value, axis: int) -> object:
        """The size of an axis: that of what the array is made from, where it follows from that."""
        op = self.maker.get(array)
        if op is None:
            return array, axis
        if op.name == "matmul":
            return self.axis(op.operands[axis], axis)
        if op.name in ("array_zeros", "array_empty", "elementwise"):
            return self.size(op.operands[axis])
        if op.name == "view_transpose":
            perm = op.attrs["perm"]
            assert isinstance(perm, tuple)
            return self.axis(op.operands[0], perm[axis])
        return array, axis

    # ------------------------------------------------------------------------------------------------- products

    def products(self, block: Block) -> None:
        """Zeros that first of all receive a product."""
        zeros: dict[Value, Op] = {}
        dropped: list[Op] = []
        for op in block.ops:
            made = zeros.get(op.operands[0]) if op.name == "matmul_inc" else None
            used = [*op.operands, *(v for inner in op.blocks for v in uses(inner))]
            if made is not None and self.whole(op, made):
                op.prim, op.operands, op.results = get("matmul"), op.operands[1:], made.results
                self.maker[made.result] = op
                dropped.append(made)
            for value in used:
                zeros.pop(value, None)
            if op.name == "array_zeros":
                zeros[op.result] = op
        block.ops = [op for op in block.ops if op not in dropped]

    def whole(self, op: Op, made: Op) -> bool:
        """The sizes are those of the product, whoever wrote the op has seen to that."""
        target, a, b = op.operands
        return target not in (a, b) and made.result.type == ArrayRef(_dtype(a), 2, True)


def _dtype(value: Value) -> DType:
    assert isinstance(value.type, ArrayRef)
    return value.type.dtype


def _outputs(op: Op) -> tuple[str, ...]:
    outputs = op.attrs["outputs"]
    assert isinstance(outputs, tuple)
    return outputs


def _last_uses(block: Block, position: dict[Op, int]) -> dict[Value, int]:
    """For arrays of the block: where they, or views of them, are used last; `_KEPT` where something may keep them."""
    last: dict[Value, int] = {}
    base: dict[Value, Value] = {}

    def use(value: Value, at: int) -> None:
        known = base.get(value)
        if known is not None:
            last[known] = max(last.get(known, 0), at)

    def visit(op: Op, at: int) -> None:
        for value in op.operands:
            use(value, at if op.name in _BORROWERS else _KEPT)
        if op.name in VIEWS and op.operands[0] in base:
            base[op.result] = base[op.operands[0]]
        if op.name == "elementwise":
            return
        for inner in op.blocks:
            for nested in inner.ops:
                visit(nested, at)
            for value in inner.results:
                use(value, _KEPT)

    for op, at in position.items():
        visit(op, at)
        if op.name in _MAKERS:
            base.update((v, v) for v in op.results if isinstance(v.type, ArrayRef))
    for value in block.results:
        use(value, _KEPT)
    return last


def _into(op: Op, result: Value, value: Value) -> None:
    """The op writes the result's elements to the array instead."""
    outputs, rank = list(_outputs(op)), int(str(op.attrs["rank"]))
    inputs, targets, results = elementwise_inputs(op), iter(elementwise_targets(op)), iter(op.results)
    places = [next(targets) if kind in ("inc", "set") else next(results) for kind in outputs]
    number = places.index(result)
    outputs[number], places[number] = "set", value
    written = [place for kind, place in zip(outputs, places, strict=True) if kind in ("inc", "set")]
    op.results = [place for kind, place in zip(outputs, places, strict=True) if kind not in ("inc", "set")]
    op.operands = [*op.operands[:rank], *inputs, *written]
    op.attrs = {**op.attrs, "outputs": tuple(outputs), "targets": len(written)}
