"""NumPy's functions on duals that write where they are told, leave elements out, or run along an axis.

with_options(primitive)(a, b, out=c, where=c > 0.0)     c, of which the chosen elements are new
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dual_arrays import DualArray, bases, cast, cells_of, filled, plain_index
from duals import PARTIALS, Primitive, apply, base


def stored(out: DualArray, result: Any, where: Any = True) -> DualArray:
    """The chosen elements of the result, which was complete before the first is written."""
    cells = np.broadcast_to(cells_of(result), out.shape).copy()
    chosen = np.broadcast_to(cells_of(where), out.shape)
    for index in np.ndindex(out.shape):
        if base(chosen[index]):
            out.cells[index] = cast(cells[index], out.dtype)
    return out


def with_options(function: Callable[..., Any], original: Callable[..., Any]) -> Callable[..., Any]:
    """An elementwise function that knows `out=` and `where=`; NumPy is asked first whether it may."""

    def call(*operands: Any, out: Any = None, where: Any = True, **options: Any) -> Any:
        if out is None:
            return function(*operands, **options)
        original(*bases(operands), out=bases(out), where=bases(where))
        kept = [operand.cells.copy() if isinstance(operand, DualArray) else operand for operand in operands]
        fixed = [DualArray(c, o.dtype) if isinstance(o, DualArray) else c for c, o in zip(kept, operands, strict=True)]
        return stored(out, function(*fixed, **options), where)

    return call


def copyto(out: DualArray, values: Any, where: Any = True) -> None:
    np.copyto(bases(out), bases(values), where=bases(where))
    stored(out, values, where)


def add_at(array: DualArray, index: Any, values: Any) -> None:
    """One element after another, so that places that come twice are added to twice."""
    places = np.arange(array.size).reshape(array.shape)[plain_index(index)]
    given = np.broadcast_to(cells_of(values), places.shape)
    flat = list(np.ndindex(array.shape))
    for at in np.ndindex(places.shape):
        place = flat[places[at]]
        array.cells[place] = cast(array.cells[place] + given[at], array.dtype)


def lines(function: Callable[..., Any], change: Callable[[list[Any]], list[Any]]) -> Callable[..., Any]:
    """A function from the elements along an axis to as many others, or fewer."""

    def call(array: Any, *, axis: Any = -1, out: Any = None) -> Any:
        model = function(bases(array), axis=axis)
        moved = np.moveaxis(cells_of(array), axis, -1)
        rows = np.empty(np.moveaxis(model, axis, -1).shape, dtype=object)
        for index in np.ndindex(rows.shape[:-1]):
            for position, value in enumerate(change(list(moved[index]))):
                rows[(*index, position)] = value
        result = filled(model, np.moveaxis(rows, -1, axis))
        return result if out is None else stored(out, result)

    return call


def running(values: list[Any]) -> list[Any]:
    for position in range(1, len(values)):
        values[position] = values[position - 1] + values[position]
    return values


def differences(values: list[Any]) -> list[Any]:
    return [after - before for before, after in zip(values, values[1:])]


def in_order(values: list[Any]) -> list[Any]:
    return [values[position] for position in np.argsort([base(value) for value in values], kind="stable")]


def norm(array: Any, axis: Any = None) -> Any:
    """The Euclidean norm, whose derivative at zero is zero."""
    model = np.linalg.norm(bases(array), axis=axis)
    cells = cells_of(array).ravel()[None] if axis is None else np.moveaxis(cells_of(array), axis, -1)
    out = np.empty(cells.shape[:-1], dtype=object)
    for index in np.ndindex(out.shape):
        out[index] = _length(list(cells[index]))
    return filled(model, out) if axis is not None else cast(out[0], np.dtype(type(model)))


def _length(values: list[Any]) -> Any:
    total: Any = np.float64(0.0)
    for value in values:
        total = total + value * value
    return np.float64(0.0) if base(total) == 0 else apply(Primitive("sqrt", np.sqrt, PARTIALS["sqrt"]), total)


def left_out(reduce: Callable[..., Any], original: Callable[..., Any], start: Any) -> Callable[..., Any]:
    """A reduction of all elements that knows `where=` and `initial=`."""

    def call(
        array: Any, *operands: Any, where: Any = True, initial: Any = None, out: Any = None, **options: Any
    ) -> Any:
        if where is not True or initial is not None:
            model = original(bases(array), where=bases(where), initial=start if initial is None else base(initial))
            chosen = np.broadcast_to(cells_of(where), array.shape)
            values = [array.cells[index] for index in np.ndindex(array.shape) if base(chosen[index])]
            values += [] if initial is None else [np.float64(initial)]
            kept = np.empty(len(values), dtype=object)
            kept[:] = values
            return reduce(DualArray(kept, array.dtype)) if values else model
        result = reduce(array, *operands, **options)
        return result if out is None else stored(out, result)

    return call
