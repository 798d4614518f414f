"""Scalar operations over arrays: a rule for numbers becomes one `elementwise` op with broadcasting.

    a * x + 1.0     ->     elementwise outputs=("new",) over the broadcast shape, block: mul / add
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from pullback.infer.engine import Frame
from pullback.infer.lattice import known_ones
from pullback.infer.numbers import convert
from pullback.infer.values import AV, MISSING
from pullback.ir.node import Block, Value
from pullback.prims.array import elementwise_types
from pullback.prims.base import get
from pullback.types import Array, ArrayRef, Constant, DType, Number, Scalar, Union, show

__all__ = [
    "TOO_BIG", "array_sizes", "broadcast", "elementwise", "elementwise_pair", "made_like", "ordered_as", "product",
    "reduce_sum", "require_equal", "require_room", "shape_text",
]  # fmt: skip

TOO_BIG = "array is too big; `arr.size * arr.dtype.itemsize` is larger than the maximum possible size."

ScalarRule = Callable[[Frame, Sequence[AV]], AV]


def array_sizes(cx: Frame, av: AV) -> list[Value]:
    """The sizes of an array's axes."""
    assert isinstance(av.type, Array)
    sizes = [cx.e("array_size", av.value, axis=axis) for axis in range(av.type.rank)]
    cx.not_one.update(size for axis, size in enumerate(sizes) if av.type.is_one(axis) is False)
    return sizes


@dataclass(frozen=True, slots=True)
class Extent:
    """The size of an axis, and whether it is 1 where that is known."""

    size: Value
    one: bool | None


def extents(cx: Frame, av: AV) -> list[Extent]:
    """Sizes of the axes with what is known of them."""
    assert isinstance(av.type, Array)
    return [Extent(size, av.type.is_one(axis)) for axis, size in enumerate(array_sizes(cx, av))]


def broadcast(cx: Frame, arrays: Sequence[AV], named: Sequence[AV] = (), what: str = "operands") -> list[Extent]:
    """The broadcast shape; an error at run time names the shapes that do not fit (of `named`, if given)."""
    shapes = {av.value: extents(cx, av) for av in arrays}
    shown = [[extent.size for extent in shapes[value]] for value in ([av.value for av in named] or shapes)]
    rank = max(len(shape) for shape in shapes.values())
    result: list[Extent] = []
    for axis in range(rank):
        axes = [shape[axis - rank + len(shape)] for shape in shapes.values() if axis - rank + len(shape) >= 0]
        result.append(_common(cx, axes, shown, what))
    return result


def _common(cx: Frame, axes: Sequence[Extent], shapes: Sequence[Sequence[Value]], what: str) -> Extent:
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
        message = f"{what} could not be broadcast together with shapes {_pattern(shapes)}"
        plain = what == "operands"
        cx.check(fits, "ValueError" if plain else "IndexError", message, *payload, shapes=plain)
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
        texts.append(shape_text(number, len(shape)))
        number += len(shape)
    return "".join(f"{text} " for text in texts)  # NumPy ends the list with a space too


def shape_text(first: int, rank: int) -> str:
    """A shape of a message, as NumPy writes it; its sizes are numbers `first`, `first + 1`, ... of the payload."""
    inner = ",".join("{" + str(first + i) + "}" for i in range(rank))
    return f"({inner}{',' if rank == 1 else ''})"


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
    order = _order(arrays, len(sizes)) if output == "new" else _Order.ROWS
    if order is _Order.COLUMNS:
        sizes, operands = sizes[::-1], [_swapped(cx, av) for av in operands]
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
    return _fresh(cx, op.result, known_ones([extent.one for extent in shape]), order)


class _Order(Enum):
    """Of the elements of a fresh array: row after row, column after column, or in NumPy perhaps another one."""

    ROWS = 0
    COLUMNS = 1
    UNKNOWN = 2


def _order(arrays: Sequence[AV], rank: int) -> _Order:
    """How NumPy lays out what operands give: as they lie themselves.

    An operand that is not broadcast decides; rows win over columns.
    """
    types = [av.type for av in arrays if isinstance(av.type, Array) and av.type.rank > 1]
    deciding = [type_ for type_ in types if type_.ones and type_.rank == rank and not any(type_.ones)
                and None not in type_.ones]  # fmt: skip
    if rank < 2 or all(type_.row_major for type_ in types) or any(type_.row_major for type_ in deciding):
        return _Order.ROWS
    columns = [type_ for type_ in types if not (type_.row_major and any(type_.ones))]  # the others are broadcast
    if all(type_.columns for type_ in columns) and (len(types) == 1 or deciding):
        return _Order.COLUMNS
    return _Order.UNKNOWN


def _swapped(cx: Frame, av: AV) -> AV:
    """An operand of rank 2 at most, as it broadcasts over the space with its two axes exchanged."""
    if not isinstance(av.type, Array) or av.type.rank == 0:
        return av
    if av.type.rank == 1:
        value = cx.e("view_expand", av.value, axis=1)
    else:
        value = cx.e("view_transpose", av.value, perm=(1, 0))
    return AV(replace(av.type, rank=2, ones=()), (value,))


def elementwise_pair(
    cx: Frame, operands: Sequence[AV], rule: Callable[[Frame, Sequence[AV]], tuple[AV, AV]]
) -> tuple[AV, AV]:
    """Two fresh arrays by one pass over the operands: a rule with two results."""
    arrays = [av for av in operands if isinstance(av.type, Array)]
    shape = broadcast(cx, arrays)
    sizes, order = [extent.size for extent in shape], _order(arrays, len(shape))
    if order is _Order.COLUMNS:
        sizes, operands = sizes[::-1], [_swapped(cx, av) for av in operands]
    block, inputs = Block(), list[Value]()
    with cx.into(block):
        pair = rule(cx, [_item(cx, av, block, inputs) for av in operands])
    block.results = [value for av in pair for value in av.values]
    outputs = ("new", "new")
    machine = elementwise_types(len(shape), outputs, [v.type for v in block.results])
    attrs: dict[str, object] = {"rank": len(shape), "outputs": outputs, "targets": 0}
    op = cx.e.append(get("elementwise"), [*sizes, *inputs], attrs=attrs, blocks=[block], types=machine)
    ones = known_ones([extent.one for extent in shape])
    return _fresh(cx, op.results[0], ones, order), _fresh(cx, op.results[1], ones, order)


def _fresh(cx: Frame, value: Value, ones: tuple[bool | None, ...], order: _Order) -> AV:
    """The abstract value of a fresh array; `value` has its axes exchanged if it lies column after column."""
    assert isinstance(value.type, ArrayRef)
    dtype, rank = value.type.dtype, value.type.rank
    if order is _Order.COLUMNS:
        turned = cx.e("view_transpose", value, perm=(1, 0))
        return AV(Array(dtype, rank, ones=ones, columns=True), (turned,))
    single = rank == 2 and True in ones  # then there is but one order
    return AV(Array(dtype, rank, True, ones=ones, foreign=order is _Order.UNKNOWN and not single), (value,))


def made_like(cx: Frame, model: AV, make: Callable[[Sequence[Value]], AV]) -> AV:
    """A fresh array of the model's shape, its elements in the model's order; `make` gives one row after row."""
    assert isinstance(model.type, Array)
    order, sizes = _order([model], model.type.rank), array_sizes(cx, model)
    fresh = make(sizes[::-1] if order is _Order.COLUMNS else sizes)
    return _fresh(cx, fresh.value, model.type.ones, order)


def ordered_as(fresh: AV, models: Sequence[AV]) -> AV:
    """A fresh array that lies row after row here; in NumPy its elements are ordered as those of the models."""
    types = [av.type for av in models if isinstance(av.type, Array) and av.type.rank > 1]
    if not isinstance(fresh.type, Array) or fresh.type.rank < 2 or all(type_.row_major for type_ in types):
        return fresh
    single = fresh.type.rank == 2 and True in fresh.type.ones
    return fresh if single else AV(replace(fresh.type, rows=False, columns=False, foreign=True), fresh.values)


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
    """The sum of all elements; bools and ints are added in 64 bits."""
    def item(cx: Frame, items: Sequence[AV]) -> AV:
        value = rule(cx, items) if rule is not None else items[0]
        assert isinstance(value.type, Number)
        if value.type.dtype.is_float:
            return AV(Number(value.type.dtype, False), value.values)
        dtype = DType.U64 if value.type.dtype.is_unsigned else DType.I64
        return AV(Number(dtype, False), (convert(cx, value, dtype),))

    return elementwise(cx, [array], item, output="sum")


def require_room(cx: Frame, sizes: Sequence[Value], dtype: DType, message: str = TOO_BIG) -> None:
    """A ValueError unless an array of these sizes may exist: its bytes, empty axes taken as 1, fit 63 bits."""
    e, known, unknown = cx.e, dtype.bytes, list[Value]()
    for size in sizes:
        literal = cx.literals.get(size)
        if isinstance(literal, int):
            known *= max(literal, 1)
        else:
            unknown.append(size)
    if known >= 2**63:
        cx.check(e.boolean(False), "ValueError", message)
    elif len(unknown) == 1:
        cx.check(e("le", unknown[0], e.integer((2**63 - 1) // known)), "ValueError", message)
    elif unknown:
        cx.check(e("not_", product(cx, unknown, known)[1]), "ValueError", message)


def product(cx: Frame, sizes: Sequence[Value], factor: int = 1) -> tuple[Value, Value]:
    """The product of sizes, those that are 0 taken as 1, and a factor; and whether it leaves 63 bits."""
    e = cx.e
    total, leaves = e.integer(factor), e.boolean(False)
    for size in sizes:
        some = e("maximum", size, e.integer(1))
        leaves = e("or_", leaves, e("mul_overflows", total, some))
        total = e("mul", total, some)
    return total, leaves


def require_equal(cx: Frame, m: Value, n: Value, message: str, *payload: Value) -> None:
    """A ValueError unless two sizes agree."""
    if m is not n:
        cx.check(cx.e("eq", m, n), "ValueError", message, *payload, shapes=True)
