"""Writing into arrays: a[i] = v, a[1:3] = b, a += b, a[i] += v.

    a[i, j] = v        array_swap
    a[1:-1] = b        elementwise "set" on the view; b is copied first where it may overlap it
    a += b             elementwise "set" on a itself; the name keeps the same array
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pullback.infer.arithmetic import binary, number_binary, python_message
from pullback.infer.calls import call
from pullback.infer.dispatch import dispatch
from pullback.infer.elementwise import array_sizes, elementwise
from pullback.infer.engine import Frame
from pullback.infer.indexing import subscript
from pullback.infer.numbers import as_number, convert, promote
from pullback.infer.registry import prelude
from pullback.infer.values import AV, coerce
from pullback.infer.views import element_indices, fancy_kind, fancy_parts, index_parts, is_element, view
from pullback.ir.node import Value
from pullback.types import Array, Constant, Dict, DType, List, Number, Str, Tuple, show

__all__ = ["fill", "inplace", "inplace_item", "set_item"]

FRESH = frozenset({"elementwise", "array_zeros", "array_empty", "matmul"})


def set_item(cx: Frame, subject: AV, index: AV, value: AV) -> None:
    """subject[index] = value."""

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        _set_item(cx, operands[0], AV(operands[1].type, operands[1].values, index.literal), operands[2])
        return AV(Tuple(()))

    dispatch(cx, [subject, index, value], rule)


def _set_item(cx: Frame, subject: AV, index: AV, value: AV) -> None:
    writable(cx, subject)
    parts = index_parts(cx, subject, index)
    if fancy_parts(parts):
        kind = fancy_kind(cx, parts)
        which = "values" if isinstance(value.type, Array) else "number"
        call(cx, prelude(cx, f"pullback.set_{kind}_{which}"), [subject, parts[0], value], {})
        return
    if is_element(subject, parts):
        indices = element_indices(cx, subject, parts)
        cx.e("array_swap", subject.value, *indices, element(cx, subject, value))
        return
    fill(cx, view(cx, subject, parts), value)


def writable(cx: Frame, subject: AV) -> None:
    """Refuse what cannot be written; a read-only array raises when the line runs, as in NumPy."""
    if not isinstance(subject.type, Array):
        label = "tuples never change" if isinstance(subject.type, Tuple | Str) else "only arrays can be changed so far"
        kind = {List: "list", Dict: "dict", Tuple: "tuple"}.get(type(subject.type), show(subject.type))
        raise cx.error(f"{kind} items cannot be assigned", label, "build a new value instead")
    if subject.type.readonly:
        cx.check(cx.e.boolean(False), "ValueError", "assignment destination is read-only")


def element(cx: Frame, subject: AV, value: AV) -> Value:
    """A number as an element of the array; it is cast as NumPy casts on assignment."""
    assert isinstance(subject.type, Array)
    value = as_number(cx, value)
    if isinstance(value.type, Array) and value.type.rank == 0:
        value = AV(Number(value.type.dtype, False), (cx.e("array_get", value.value),))
    if not isinstance(value.type, Number):
        raise cx.error(f"an element of {show(subject.type)} cannot be set to {show(value.type)}",
                       "a number is needed")  # fmt: skip
    return _cast(cx, value, subject.type.dtype)


def _cast(cx: Frame, value: AV, dtype: DType) -> Value:
    assert isinstance(value.type, Number)
    if dtype is DType.BOOL and value.type.dtype is not DType.BOOL:
        return cx.e("ne", value.value, cx.e.like(0, value.value))
    if dtype.is_int and value.type.dtype.is_float and value.type.weak and cx.options.checks:
        message = python_message(lambda: int(float("nan")))
        cx.check(cx.e("not_", cx.e("isnan", value.value)), "ValueError", message)
    return convert(cx, value, dtype)


def fill(cx: Frame, target: AV, value: AV) -> None:
    """target[...] = value, broadcast; the value is copied first where it may overlap the target."""
    value = as_number(cx, value)
    if isinstance(value.type, Array):
        value = _apart(cx, target, value)
        _fits(cx, target, value)
    elif not isinstance(value.type, Number):
        raise cx.error(
            f"{show(target.type)} cannot be filled with {show(value.type)}", "a number or an array is needed"
        )
    _write(cx, target, [value], lambda cx, items: items[0])


def _write(cx: Frame, target: AV, operands: Sequence[AV], rule: Callable[[Frame, Sequence[AV]], AV]) -> None:
    """An elementwise op whose only output is the target."""
    assert isinstance(target.type, Array)
    dtype = target.type.dtype

    def item(cx: Frame, items: Sequence[AV]) -> AV:
        return AV(Number(dtype, False), (_cast(cx, as_number(cx, rule(cx, items)), dtype),))

    elementwise(cx, operands, item, output="set", target=target)


def _apart(cx: Frame, target: AV, value: AV) -> AV:
    """The value, or a copy of it where it shares memory with the target."""
    if _maker(cx, value.value) in FRESH or value.value is target.value:
        return value
    assert isinstance(value.type, Array)
    overlap = cx.e("array_overlap", target.value, value.value)
    copied: list[AV] = cx.choose(overlap, lambda: [copy(cx, value)], lambda: [value])
    return copied[0]


def copy(cx: Frame, value: AV) -> AV:
    """A fresh array of the same elements."""
    fresh = elementwise(cx, [value], lambda cx, items: items[0])
    assert isinstance(value.type, Array)
    return coerce(cx.e, fresh, Array(value.type.dtype, value.type.rank, False)) if not value.type.contiguous else fresh


def _maker(cx: Frame, value: Value) -> str:
    for op in reversed(cx.e.block.ops[-64:]):
        if value in op.results:
            return op.name
    return ""


def _fits(cx: Frame, target: AV, value: AV) -> None:
    """The value's shape must broadcast to the target's (leading axes of size 1 are dropped)."""
    assert isinstance(target.type, Array) and isinstance(value.type, Array)
    if value.type.rank > target.type.rank:
        raise cx.error(
            f"could not broadcast an array of rank {value.type.rank} into one of rank {target.type.rank}",
            f"{show(value.type)} into {show(target.type)}",
        )
    m, n = array_sizes(cx, target), array_sizes(cx, value)
    e = cx.e
    for size, other in zip(m[len(m) - len(n) :], n, strict=True):
        fits = e("or_", e("eq", size, other), e("eq", other, e.integer(1)))
        message = f"could not broadcast input array from shape {_shape(0, len(n))} into shape {_shape(len(n), len(m))}"
        cx.check(fits, "ValueError", message, *n, *m)


def _shape(first: int, count: int) -> str:
    inner = ",".join("{" + str(first + i) + "}" for i in range(count))
    return f"({inner}{',' if count == 1 else ''})"


# ------------------------------------------------------------------------------------------- augmented assignment


def inplace(cx: Frame, operator: str, subject: AV, value: AV) -> AV:
    """subject operator= value: arrays change in place, everything else is rebound."""

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        target, other = operands
        if not isinstance(target.type, Array):
            return binary(cx, operator, target, other)
        _inplace_array(cx, operator, target, other)
        return target

    return dispatch(cx, [subject, value], rule)


def _inplace_array(cx: Frame, operator: str, target: AV, value: AV) -> None:
    assert isinstance(target.type, Array)
    value = as_number(cx, value)
    writable(cx, target)
    if operator == "@":
        fill(cx, target, binary(cx, "@", target, value))
        return
    if not isinstance(value.type, Array | Number | Constant):
        raise cx.error(f"unsupported operand types for {operator}=: {show(target.type)} and {show(value.type)}")
    _same_kind(cx, operator, target.type, value)
    if isinstance(value.type, Array):
        value = _apart(cx, target, value)
        _fits(cx, target, value)
    _write(cx, target, [target, value], lambda cx, items: number_binary(cx, operator, *items))


def _same_kind(cx: Frame, operator: str, target: Array, value: AV) -> None:
    """NumPy's casting rule of in-place operators: the result must be of the target's kind."""
    assert isinstance(value.type, Array | Number)
    weak = isinstance(value.type, Number) and value.type.weak
    kind = promote(Number(target.dtype, False), Number(value.type.dtype, weak))
    floats = kind.dtype.is_float or operator == "/"
    if (floats and not target.dtype.is_float) or (target.dtype is DType.BOOL and kind.dtype is not DType.BOOL):
        raise cx.type_error(
            f"cannot cast the result of {operator}= from {show(kind)} to {show(Number(target.dtype, False))}",
            "an array keeps its dtype when it is changed in place", f"write `a = a {operator} b`",
        )  # fmt: skip


def inplace_item(cx: Frame, operator: str, subject: AV, index: AV, old: AV, value: AV) -> None:
    """subject[index] operator= value, where `old` is the item that was read: a view changes in place."""

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        target, where, item, other = operands
        where = AV(where.type, where.values, index.literal)
        if not isinstance(target.type, Array):
            writable(cx, target)
        if isinstance(item.type, Array) and not fancy_parts(index_parts(cx, target, where)):
            _inplace_array(cx, operator, item, other)
        else:
            _set_item(cx, target, where, binary(cx, operator, item, other))
        return AV(Tuple(()))

    dispatch(cx, [subject, index, old, value], rule)
