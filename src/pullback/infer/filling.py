"""Putting values into arrays: casts, broadcasts, and copies where value and target may share memory.

    a[1:-1] = b        elementwise "set" on the view; b is copied first where it may overlap it
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pullback.infer.arithmetic import python_message
from pullback.infer.elementwise import array_sizes, elementwise
from pullback.infer.engine import Frame
from pullback.infer.numbers import as_number, convert
from pullback.infer.values import AV, coerce
from pullback.ir.node import Value
from pullback.types import Array, Dict, DType, List, Number, Str, Tuple, show

__all__ = ["apart", "copy", "element", "fill", "fits", "writable", "write"]

FRESH = frozenset({"elementwise", "array_zeros", "array_empty", "matmul"})


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
        value = apart(cx, target, value)
        fits(cx, target, value)
    elif not isinstance(value.type, Number):
        raise cx.error(
            f"{show(target.type)} cannot be filled with {show(value.type)}", "a number or an array is needed"
        )
    write(cx, target, [value], lambda cx, items: items[0])


def write(cx: Frame, target: AV, operands: Sequence[AV], rule: Callable[[Frame, Sequence[AV]], AV]) -> None:
    """An elementwise op whose only output is the target."""
    assert isinstance(target.type, Array)
    dtype = target.type.dtype

    def item(cx: Frame, items: Sequence[AV]) -> AV:
        return AV(Number(dtype, False), (_cast(cx, as_number(cx, rule(cx, items)), dtype),))

    elementwise(cx, operands, item, output="set", target=target)


def apart(cx: Frame, target: AV, value: AV) -> AV:
    """The value, or a copy of it where it shares memory with the target."""
    if _maker(cx, value.value) in FRESH or value.value is target.value:
        return value
    assert isinstance(value.type, Array)
    overlap = cx.e("array_overlap", target.value, value.value)
    # Of one type, read-only or not: it is only read.
    copied: list[AV] = cx.choose(overlap, lambda: [AV(value.type, copy(cx, value).values)], lambda: [value])
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


def fits(cx: Frame, target: AV, value: AV) -> None:
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
