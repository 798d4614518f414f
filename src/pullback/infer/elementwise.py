"""Scalar operations over arrays: a rule for numbers becomes one `elementwise` op with broadcasting.

    a * x + 1.0     ->     elementwise outputs=("new",) over the broadcast shape, block: mul / add
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pullback.infer.engine import Frame
from pullback.infer.lattice import known_ones
from pullback.infer.numbers import convert
from pullback.infer.values import AV, MISSING
from pullback.ir.node import Block, Value
from pullback.prims.array import elementwise_types
from pullback.prims.base import get
from pullback.types import Array, Constant, DType, Number, Scalar, Union, show

__all__ = ["array_sizes", "broadcast", "elementwise", "reduce_sum", "require_equal"]

ScalarRule = Callable[[Frame, Sequence[AV]], AV]


def array_sizes(cx: Frame, av: AV) -> list[Value]:
    """The sizes of an array's axes."""
    assert isinstance(av.type, Array)
    return [cx.e("array_size", av.value, axis=axis) for axis in range(av.type.rank)]


@dataclass(frozen=True, slots=True)
class Extent:
    """The size of an axis, and whether it is 1 where that is known."""

    size: Value
    one: bool | None


def extents(cx: Frame, av: AV) -> list[Extent]:
    """Sizes of the axes with what is known of them."""
    assert isinstance(av.type, Array)
    return [Extent(size, av.type.is_one(axis)) for axis, size in enumerate(array_sizes(cx, av))]


def broadcast(cx: Frame, arrays: Sequence[AV]) -> list[Extent]:
    """The broadcast shape; a ValueError at run time names the shapes that do not fit."""
    shapes = {av.value: extents(cx, av) for av in arrays}
    rank = max(len(shape) for shape in shapes.values())
    result: list[Extent] = []
    for axis in range(rank):
        axes = [shape[axis - rank + len(shape)] for shape in shapes.values() if axis - rank + len(shape) >= 0]
        result.append(_common(cx, axes, [[e.size for e in shape] for shape in shapes.values()]))
    return result


def _common(cx: Frame, axes: Sequence[Extent], shapes: Sequence[Sequence[Value]]) -> Extent:
    """The extent of an axis of the result.  An axis known to be 1 gives way; one known not to be 1 decides."""
    result = axes[0]
    for other in axes[1:]:
        if other.size is result.size or other.one:
            continue
        if result.one:
            result = other
            continue
        fits = cx.e("eq", result.size, other.size)
        for extent in (result, other):
            if extent.one is None:
                fits = cx.e("or_", fits, cx.e("eq", extent.size, cx.e.integer(1)))
        payload = [value for shape in shapes for value in shape]
        message = f"operands could not be broadcast together with shapes {_pattern(shapes)}"
        cx.check(fits, "ValueError", message, *payload)
        result = _wider(cx, result, other)
    return result


def _wider(cx: Frame, a: Extent, b: Extent) -> Extent:
    if a.one is False:
        return a
    if b.one is False:
        return b
    return Extent(cx.e("select", cx.e("eq", a.size, cx.e.integer(1)), b.size, a.size), None)


def _pattern(shapes: Sequence[Sequence[Value]]) -> str:
    """Placeholders like ({0},{1}) ({2},) for the payload of a shape error."""
    texts: list[str] = []
    number = 0
    for shape in shapes:
        inner = ",".join("{" + str(number + i) + "}" for i in range(len(shape)))
        number += len(shape)
        texts.append(f"({inner}{',' if len(shape) == 1 else ''})")
    return "".join(f"{text} " for text in texts)  # NumPy ends the list with a space too


def elementwise(
    cx: Frame, operands: Sequence[AV], rule: ScalarRule, output: str = "new", target: AV | None = None
) -> AV:
    """Apply a rule for numbers to arrays (and numbers) elementwise.

    output "new" gives a fresh array, "sum" the sum of the results; "set" writes them into `target`, which has the shape
    that the operands broadcast to (checked before).
    """
    arrays = [av for av in operands if isinstance(av.type, Array)]
    for av in operands:
        if not isinstance(av.type, Array | Number | Constant):
            raise cx.error(f"no elementwise meaning for {show(av.type)}", "arrays and numbers are needed here")
    shape = broadcast(cx, arrays) if target is None else extents(cx, target)
    sizes = [extent.size for extent in shape]
    block = Block()
    inputs: list[Value] = []
    with cx.into(block) as emitter:
        items = [_item(cx, av, block, inputs) for av in operands]
        result = rule(cx, items)
        if isinstance(result.type, Constant):
            result = AV(Number(DType.BOOL, False), (emitter.boolean(result.type.value),))
        dead = cx.dead
    if dead or isinstance(result.type, Union) or not isinstance(result.type, Number):
        raise cx.error(f"this has no elementwise meaning ({show(result.type)})")
    block.results = list(result.values)
    machine = elementwise_types(len(sizes), (output,), [v.type for v in result.values])
    attrs: dict[str, object] = {"rank": len(sizes), "outputs": (output,), "targets": 0 if target is None else 1}
    written = [] if target is None else [target.value]
    op = cx.e.append(get("elementwise"), [*sizes, *inputs, *written], attrs=attrs, blocks=[block], types=machine)
    if target is not None:
        return target
    if output == "sum":
        return AV(Number(result.type.dtype, weak=False), (op.result,))
    ones = known_ones([extent.one for extent in shape])
    return AV(Array(result.type.dtype, len(sizes), True, ones=ones), (op.result,))


def _item(cx: Frame, av: AV, block: Block, inputs: list[Value]) -> AV:
    """One operand as the block sees it: literals are written again inside, the others are parameters."""
    if isinstance(av.type, Constant):
        return av
    if av.literal is not MISSING and isinstance(av.literal, int | float):
        assert isinstance(av.type, Number)
        return AV(av.type, (cx.e.constant(av.literal, Scalar(av.type.dtype)),), av.literal)
    number = Number(av.type.dtype, weak=False) if isinstance(av.type, Array) else av.type
    assert isinstance(number, Number)
    param = Value(Scalar(number.dtype))
    block.params.append(param)
    inputs.append(av.value)
    return AV(number, (param,))


def reduce_sum(cx: Frame, array: AV, rule: ScalarRule | None = None) -> AV:
    """The sum of all elements; bools and small ints are added as int64."""
    def item(cx: Frame, items: Sequence[AV]) -> AV:
        value = rule(cx, items) if rule is not None else items[0]
        assert isinstance(value.type, Number)
        if value.type.dtype.is_float:
            return AV(Number(value.type.dtype, False), value.values)
        return AV(Number(DType.I64, False), (convert(cx, value, DType.I64),))

    return elementwise(cx, [array], item, output="sum")


def require_equal(cx: Frame, m: Value, n: Value, message: str, *payload: Value) -> None:
    """A ValueError unless two sizes agree."""
    if m is not n:
        cx.check(cx.e("eq", m, n), "ValueError", message, *payload)
