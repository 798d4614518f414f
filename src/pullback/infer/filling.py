"""Putting values into arrays: casts, broadcasts, and copies where value and target may share memory.

    a[1:-1] = b        elementwise "set" on the view; b is copied first where it may overlap it
    n[0] = x           an int array takes a float as int(x) does; from an array of floats it takes what C's cast gives
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from pullback.infer.elementwise import array_sizes, elementwise, shape_text
from pullback.infer.engine import Frame
from pullback.infer.numbers import as_number, convert, exactly
from pullback.infer.values import AV, MISSING, coerce
from pullback.infer.views import array_of
from pullback.ir.node import Value
from pullback.types import Array, Dict, DType, List, Number, Str, Tuple, show

__all__ = ["ASSIGNED", "INDEXED", "apart", "copy", "element", "fill", "shaped", "writable", "write"]

# What NumPy says of a value that does not fit its target; {n} and {m} stand for their shapes.
ASSIGNED = "could not broadcast input array from shape {n} into shape {m}"
INDEXED = "shape mismatch: value array of shape {n} could not be broadcast to indexing result of shape {m}"

FRESH = frozenset({"elementwise", "array_zeros", "array_empty", "matmul"})


def writable(cx: Frame, subject: AV, message: str = "assignment destination is read-only") -> None:
    """Refuse what cannot be written; a read-only array raises when the line runs, as in NumPy."""
    if not isinstance(subject.type, Array):
        label = "tuples never change" if isinstance(subject.type, Tuple | Str) else "only arrays can be changed so far"
        kind = {List: "list", Dict: "dict", Tuple: "tuple"}.get(type(subject.type), show(subject.type))
        raise cx.error(f"{kind} items cannot be assigned", label, "build a new value instead")
    if subject.type.readonly:
        cx.check(cx.e.boolean(False), "ValueError", message)


def element(cx: Frame, subject: AV, value: AV, *, exact: bool = True) -> Value:
    """A number as an element of the array: as an item that is assigned (`exact`), or cast as C does it."""
    assert isinstance(subject.type, Array)
    exact = exact and not isinstance(value.type, Array)  # a 0-d array is cast
    value = as_number(cx, value)
    if not isinstance(value.type, Number):
        raise cx.error(f"an element of {show(subject.type)} cannot be set to {show(value.type)}",
                       "a number is needed")  # fmt: skip
    dtype = subject.type.dtype
    return exactly(cx, value, dtype) if exact and dtype.is_int else _cast(cx, value, dtype)


def _cast(cx: Frame, value: AV, dtype: DType) -> Value:
    assert isinstance(value.type, Number)
    if dtype is DType.BOOL and value.type.dtype is not DType.BOOL:
        return cx.e("ne", value.value, cx.e.like(0, value.value))
    return convert(cx, value, dtype)


def fill(cx: Frame, target: AV, value: AV, words: str = ASSIGNED, *, exact: bool = True) -> None:
    """target[...] = value, broadcast; the value is copied first where it may overlap the target.

    words: the message of a ValueError where the value does not fit.  exact: how a number is converted, as in `element`.
    """
    exact = exact and not isinstance(value.type, Array)
    value = as_number(cx, value)
    assert isinstance(target.type, Array)
    if isinstance(value.type, Array):
        value = apart(cx, target, _fitting(cx, target, value, words))
    elif isinstance(value.type, Number):
        if target.type.dtype.is_int:  # what may raise is done once, before the loop
            number, whole = element(cx, target, value, exact=exact), isinstance(value.literal, int)
            value = AV(Number(target.type.dtype, False), (number,), value.literal if whole else MISSING)
    else:
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
    if value.value is target.value or _made_since(cx, value.value, target.value):
        return value
    assert isinstance(value.type, Array)
    overlap = cx.e("array_overlap", target.value, value.value)
    # Of one type, read-only or not: it is only read.
    copied: list[AV] = cx.choose(overlap, lambda: [coerce(cx.e, copy(cx, value), value.type)], lambda: [value])
    return copied[0]


def copy(cx: Frame, value: AV, *, rows: bool = False) -> AV:
    """A fresh array of the same elements, row after row or in the order of the array."""
    assert isinstance(value.type, Array)
    if rows:
        value = AV(replace(value.type, rows=True, columns=False, foreign=False), value.values)
    return elementwise(cx, [value], lambda cx, items: items[0])


def shaped(
    cx: Frame, value: AV, sizes: Sequence[Value], ones: Sequence[bool | None] = (), *, whole: bool = False,
    parts: Sequence[AV] = (),
) -> AV:
    """As many elements in another shape: a view where NumPy gives one (`whole`: where it is contiguous), or a copy.

    parts: the real and the imaginary part of complex numbers, one of which the value is.
    """  # fmt: skip
    type_ = value.type
    assert isinstance(type_, Array)
    apart, unknown = whole and type_.gaps == 1, type_.foreign or type_.gaps == 2
    if type_.contiguous and not unknown and not apart:
        return array_of(cx.e("view_reshape", value.value, *sizes), type_, ones)
    attrs: dict[str, object] = {"whole": whole, "foreign": unknown, "readonly": type_.readonly}
    if apart:
        attrs["gaps"] = True
    if parts:
        attrs["part"] = int(parts[0].value is not value.value)
    taken = cx.e("reshape", value.value, *sizes, *(part.value for part in parts), **attrs)
    readonly, foreign = type_.readonly and type_.contiguous, type_.foreign and not whole
    model = replace(type_, readonly=readonly, columns=False, foreign=foreign, gaps=0 if whole else type_.gaps)
    return array_of(taken, model, ones)


def _made_since(cx: Frame, value: Value, target: Value) -> bool:
    """Is the value new memory of which the target is no view: one of what was there before, or of other new memory?"""
    for op in reversed(cx.e.block.ops[-64:]):
        if target in op.results:
            if op.name.startswith("view_"):
                target = op.operands[0]
            elif op.name not in FRESH:
                return False
        if value in op.results:
            return op.name in FRESH and target is not value
    return False


def _fitting(cx: Frame, target: AV, value: AV, words: str) -> AV:
    """The value, whose shape must broadcast to the target's; leading axes of size 1 beyond its rank are dropped."""
    assert isinstance(target.type, Array) and isinstance(value.type, Array)
    missing = max(value.type.rank - target.type.rank, 0)
    if any(value.type.is_one(axis) is False for axis in range(missing)):
        raise cx.error(
            f"could not broadcast an array of rank {value.type.rank} into one of rank {target.type.rank}",
            f"{show(value.type)} into {show(target.type)}",
        )
    m, n = array_sizes(cx, target), array_sizes(cx, value)
    e, one = cx.e, cx.e.integer(1)

    def require(fits: Value, dropped: int) -> None:
        shown = n[dropped:]
        message = words.replace("{n}", shape_text(0, len(shown))).replace("{m}", shape_text(len(shown), len(m)))
        cx.check(fits, "ValueError", message, *shown, *m, shapes=True)

    for axis, size in enumerate(n[:missing]):
        require(e("eq", size, one), axis)
    for size, other in zip(m[len(m) - len(n) + missing :], n[missing:], strict=True):
        require(e("or_", e("eq", size, other), e("eq", other, one)), missing)
    view = value.value
    for _ in range(missing):
        view = e("view_index", view, e.integer(0), axis=0)
    return array_of(view, value.type, value.type.ones[missing:]) if missing else value
