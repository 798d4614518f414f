"""Arrays of what is one or may become one: array, asarray, copy, astype and kin.

    np.array(a, ndmin=2)         a copy, with an axis of size 1 in front
    np.asarray(a, order="F")     the array itself where it lies so, else a copy
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pullback.infer.arguments import arguments_of
from pullback.infer.creation import cast, copied, dtype_of, view_reversed
from pullback.infer.dispatch import dispatch
from pullback.infer.elementwise import array_sizes
from pullback.infer.engine import Frame
from pullback.infer.filling import copy, shaped
from pullback.infer.numbers import convert
from pullback.infer.registry import HANDLERS, Handler
from pullback.infer.static import static_flag, static_int
from pullback.infer.values import AV
from pullback.infer.views import array_of
from pullback.prims.scalar import NUMPY_DTYPES
from pullback.types import Array, Constant, DType, NoneType, Number, Str, Type, show

__all__ = ["in_order"]


def _array(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    names = ("object", "dtype", "copy", "order", "subok", "ndmin")
    found = arguments_of(cx, "numpy.array", names, given, keywords)
    least = static_int(cx, found["ndmin"], "ndmin") if "ndmin" in found else 0

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        value = _taken(cx, operands[0], found, Constant(True))
        while isinstance(value.type, Array) and value.type.rank < least:
            value = array_of(cx.e("view_expand", value.value, axis=0), value.type)
        return value

    return dispatch(cx, [found["object"]], rule)


def _taken(cx: Frame, value: AV, found: Mapping[str, AV], usual: Type) -> AV:
    """The array that a value is: a copy, or with copy=None only where there must be one; with copy=False never."""
    copying = found["copy"].type if "copy" in found else usual
    same = isinstance(value.type, Array) and dtype_of(cx, found.get("dtype"), value.type.dtype) is value.type.dtype
    result = value if same and copying != Constant(True) else copied(cx, value, found.get("dtype"))
    order = getattr(found["order"].type, "value", None) if "order" in found else None
    if copying == Constant(False) and not same:
        title = "Unable to avoid copy while creating an array as requested."
        raise cx.error(title, show(value.type), "leave copy=False out", raised=("ValueError", title))
    if order in ("C", "F") and isinstance(result.type, Array) and result.type.rank > 1:
        if copying == Constant(False):
            raise cx.error("copy=False with an order is not supported here", "whether it lies so is seen when it runs",
                           "leave one of the two out")  # fmt: skip
        (result,) = in_order(cx, [result], order == "F", copied=not same or copying == Constant(True))
    return result


def in_order(cx: Frame, parts: Sequence[AV], columns: bool, *, copied: bool) -> list[AV]:
    """An array, or both parts of a complex one, row after row or column after column: itself where it lies so.

    copied: it is new anyway.
    """
    turned = [view_reversed(cx, part) if columns else part for part in parts]

    def laid(part: AV) -> AV:
        assert isinstance(part.type, Array)
        if not copied:
            both = turned if len(turned) > 1 else ()
            return shaped(cx, part, array_sizes(cx, part), part.type.ones, whole=True, parts=both)
        return known(part) if part.type.contiguous else copy(cx, part, rows=True)

    def known(part: AV) -> AV:
        assert isinstance(part.type, Array)
        return AV(replace(part.type, foreign=False), part.values)

    return [view_reversed(cx, part) if columns else part for part in map(laid, turned)]


def _asarray(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    found = arguments_of(cx, "numpy.asarray", ("a", "dtype", "order", "copy"), given, keywords)
    return dispatch(cx, [found["a"]], lambda cx, operands: _taken(cx, operands[0], found, NoneType()))


def _as_columns(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """np.asfortranarray."""
    found = arguments_of(cx, "numpy.asfortranarray", ("a", "dtype"), given, keywords)
    more = {"dtype": found["dtype"]} if "dtype" in found else {}
    return _asarray(cx, [found["a"]], {**more, "order": AV(Str("F"))})


def _as_rows(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """np.ascontiguousarray: the array itself where it is contiguous, of at least one axis."""

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        (value,) = operands
        assert isinstance(value.type, Array)
        if value.type.rank == 0:
            return array_of(cx.e("view_expand", value.value, axis=0), value.type, (True,))
        return shaped(cx, value, array_sizes(cx, value), value.type.ones, whole=True)

    return dispatch(cx, [_asarray(cx, given, keywords)], rule)


def _copier(name: str, usual: str) -> Handler:
    """np.copy, which keeps the order of the elements, and the method, which lays them out row after row."""

    def handler(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        found = arguments_of(cx, name, ("a", "order"), given, keywords)
        order = getattr(found["order"].type, "value", None) if "order" in found else usual
        if order not in ("C", "K", "F"):
            raise cx.error(f"{name} takes order='C', 'F' or 'K' here", "", "leave the order out")

        def rule(cx: Frame, operands: Sequence[AV]) -> AV:
            if not isinstance(operands[0].type, Array) or order == "K":
                return copied(cx, operands[0], None)
            if order == "F" and operands[0].type.rank > 1:
                return view_reversed(cx, copy(cx, view_reversed(cx, operands[0]), rows=True))
            return copy(cx, operands[0], rows=True)

        return dispatch(cx, [found["a"]], rule)

    return handler


def _astype(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    names = ("a", "dtype", "order", "casting", "subok", "copy")
    found = arguments_of(cx, "astype", names, given, keywords)

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        (value,) = operands
        assert isinstance(value.type, Array | Number)
        dtype = dtype_of(cx, found["dtype"])
        _check_casting(cx, value.type.dtype, dtype, found.get("casting"))
        if value.type.dtype is dtype and "copy" in found and not static_flag(cx, found["copy"], "copy"):
            return value
        return _cast_any(cx, value, dtype)

    return dispatch(cx, [found["a"]], rule)


def _check_casting(cx: Frame, source: DType, target: DType, casting: AV | None) -> None:
    rule: Any = "unsafe" if casting is None else getattr(casting.type, "value", "")
    first, second = (np.dtype(NUMPY_DTYPES[dtype]) for dtype in (source, target))
    if not np.can_cast(first, second, casting=rule):
        title = f"Cannot cast array data from {first!r} to {second!r} according to the rule '{rule}'"
        raise cx.error(title, "the values would change", "leave casting= out", raised=("TypeError", title))


def _cast_any(cx: Frame, value: AV, dtype: DType) -> AV:
    if isinstance(value.type, Array):
        return cast(cx, value, dtype)
    return AV(Number(dtype, False), (convert(cx, value, dtype),))


HANDLERS.update({
    "numpy.array": _array, "numpy.asarray": _asarray, "numpy.asanyarray": _asarray, "numpy.require": _asarray,
    "numpy.asfortranarray": _as_columns, "numpy.ascontiguousarray": _as_rows, "numpy.copy": _copier("np.copy", "K"),
    "ndarray.copy": _copier("copy", "C"), "ndarray.astype": _astype, "numpy.astype": _astype,
})  # fmt: skip
