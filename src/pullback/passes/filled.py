"""Lets an op that makes an array fill one that is there already.

    r = array_zeros n                             r = view_index t, k;  elementwise{set} n, r { 0.0 }
    r = elementwise{new} n, a { x: neg x }        r = view_index t, k;  elementwise{set} n, a, r { x: neg x }
    r = matmul a, b                               r = ... zeros as above ...;  matmul_inc r, a, b

The array is a contiguous one of the same shape that nothing else reads or writes until then.
"""

from __future__ import annotations

from collections.abc import Sequence

from pullback.ir.node import Block, Op, Value
from pullback.prims.base import Emitter, get
from pullback.types import ArrayRef, Scalar

__all__ = ["MAKERS", "copied", "fill", "sizes_made"]

MAKERS = frozenset({"array_empty", "array_zeros", "elementwise", "matmul"})


def sizes_made(op: Op, maker: dict[Value, Op], e: Emitter) -> list[Value] | None:
    """The sizes of the arrays that an op makes, known before its operands are; None if that is not to be seen."""
    if op.name != "matmul":
        rank = len(op.operands) if op.name != "elementwise" else int(str(op.attrs["rank"]))
        return op.operands[:rank]
    a, b = op.operands
    made = maker.get(b)
    if made is not None and made.name == "view_expand" and made.attrs["axis"] == 1:
        columns = e.integer(1)
    else:
        columns = e("array_size", b, axis=1)
    return [e("array_size", a, axis=0), columns]


def fill(op: Op, result: Value, target: Value, sizes: Sequence[Value]) -> list[Op]:
    """The op in the form that fills `target` instead of making `result`; ops to put in its place."""
    e = Emitter(Block(), op.span)
    if op.name == "array_empty":
        return []
    if op.name == "elementwise":
        _set_output(op, result, target)
        return [op]
    zeros(e, target, sizes)
    if op.name == "matmul":
        e.op("matmul_inc", target, *op.operands)
    return e.block.ops


def _set_output(op: Op, result: Value, target: Value) -> None:
    """An output that was new is written to the target."""
    outputs, count = op.attrs["outputs"], op.attrs["targets"]
    assert isinstance(outputs, tuple) and isinstance(count, int)
    makes = [i for i, kind in enumerate(outputs) if kind in ("new", "sum")]
    place = makes[op.results.index(result)]
    before = sum(kind in ("inc", "set") for kind in outputs[:place])
    at = len(op.operands) - count + before
    op.operands = [*op.operands[:at], target, *op.operands[at:]]
    op.results = [r for r in op.results if r is not result]
    kinds = (*outputs[:place], "set", *outputs[place + 1 :])
    op.attrs = {**op.attrs, "outputs": kinds, "targets": count + 1}


def zeros(e: Emitter, target: Value, sizes: Sequence[Value]) -> None:
    """Clear an array."""
    block = Block()
    inner = Emitter(block)
    assert isinstance(target.type, ArrayRef)
    block.results = [inner.constant(0, Scalar(target.type.dtype))]
    _elementwise(e, sizes, [target], ("set",), block)


def copied(e: Emitter, source: Value, sizes: Sequence[Value], target: Value | None = None) -> Value:
    """The elements of an array in a fresh one, or in the target."""
    assert isinstance(source.type, ArrayRef)
    param = Value(Scalar(source.type.dtype))
    block = Block([param], [], [param])
    if target is not None:
        _elementwise(e, sizes, [source, target], ("set",), block)
        return target
    op = _elementwise(e, sizes, [source], ("new",), block)
    return op.result


def _elementwise(
    e: Emitter, sizes: Sequence[Value], operands: Sequence[Value], outputs: tuple[str, ...], block: Block
) -> Op:
    attrs: dict[str, object] = {"rank": len(sizes), "outputs": outputs, "targets": int(outputs == ("set",))}
    types = () if outputs == ("set",) else (ArrayRef(operands[0].type.dtype, len(sizes), True),)  # type: ignore[union-attr]
    return e.append(get("elementwise"), [*sizes, *operands], attrs=attrs, blocks=[block], types=types)
