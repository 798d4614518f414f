"""Arrays of dual numbers that behave as NumPy's: views share memory, stores narrow, errors have NumPy's words.

    >>> a = dual_array(np.array([1.0, 2.0, 3.0]))
    >>> row = a[::-1]
    >>> row[0] = 5.0
    >>> plain_array(a)
    array([1., 2., 5.])

A ``DualArray`` is an object array of ``Dual`` and NumPy scalars with a nominal dtype. NumPy itself says which elements
an index means, whether a reshape is a view, and what shape, dtype, memory order or exception an operation gives: each
operation first runs on the plain numbers. Only the elements are computed here, by the scalar arithmetic of ``duals``.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from duals import COMPARISONS, OPERATORS, PARTIALS, SIGNS, Primitive, apply, base, plain_literal


class DualArray:
    """A NumPy array as a program sees it, whose elements may be duals."""

    __slots__ = ("cells", "dtype")
    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, cells: np.ndarray[Any, Any], dtype: Any) -> None:
        self.cells, self.dtype = cells, np.dtype(dtype)

    def __array__(self, *args: Any, **options: Any) -> Any:
        raise TypeError("the oracle has no rule for this NumPy function")

    @property
    def shape(self) -> tuple[int, ...]:
        return self.cells.shape

    @property
    def ndim(self) -> int:
        return self.cells.ndim

    @property
    def size(self) -> int:
        return self.cells.size

    @property
    def T(self) -> DualArray:
        return DualArray(self.cells.T, self.dtype)

    def __len__(self) -> int:
        return len(self.cells)

    def __getitem__(self, index: Any) -> Any:
        return wrap(self.cells[plain_index(index)], self.dtype)

    def __setitem__(self, index: Any, value: Any) -> None:
        place = plain_index(index)
        if not isinstance(value, DualArray):
            value = new_array(value) if isinstance(value, (list, tuple)) else value
        if not isinstance(value, DualArray):
            self.cells[place] = cast(value, self.dtype)
            return
        if isinstance(self.cells[place], np.ndarray):
            self.cells[place] = cast_cells(value, self.dtype)
        else:  # one element: only an array of one number fits, and NumPy says so
            plain_array(self)[place] = plain_array(value)
            self.cells[place] = cast(value.cells.item(), self.dtype)

    def __iter__(self) -> Iterator[Any]:
        if self.ndim == 0:
            raise TypeError("iteration over a 0-d array")
        return (self[position] for position in range(len(self.cells)))

    def __bool__(self) -> bool:
        return bool(plain_array(self))

    def __int__(self) -> int:
        return int(plain_array(self))

    def __index__(self) -> int:
        return operator.index(plain_array(self))

    def __float__(self) -> float:
        raise TypeError("an array of duals cannot become a float without losing its tangent")

    def __repr__(self) -> str:
        return f"DualArray({self.cells!r}, {self.dtype})"


# --- between arrays of numbers and of duals -------------------------------------------------------------------------


def dual_array(array: np.ndarray[Any, Any], *, buffers: dict[int, Any] | None = None) -> DualArray:
    """A copy with the same strides; arrays converted with the same ``buffers`` share memory as the originals do."""
    root = root_of(array)
    known = {} if buffers is None else buffers
    low, high = byte_bounds(root)
    if id(root) not in known:
        known[id(root)] = root, np.empty(max(1, (high - low) // array.itemsize), dtype=object)
    flat = known[id(root)][1]
    if not array.size:
        return DualArray(np.empty(array.shape, dtype=object), array.dtype)
    start = (array.__array_interface__["data"][0] - low) // array.itemsize
    strides = [stride // array.itemsize * flat.itemsize for stride in array.strides]
    cells = as_strided(flat[start:], array.shape, strides)
    for index in np.ndindex(array.shape):
        cells[index] = array[index]
    if not array.flags.writeable:
        cells.flags.writeable = False
    return DualArray(cells, array.dtype)


def laid_out_as(cells: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """New cells with the same strides, since those decide what a reshape of them shares."""
    low, high = byte_bounds(cells)
    flat = np.empty(max(1, (high - low) // cells.itemsize), dtype=object)
    start = (cells.__array_interface__["data"][0] - low) // cells.itemsize
    return as_strided(flat[start:], cells.shape, cells.strides) if cells.size else np.empty(cells.shape, dtype=object)


def root_of(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The array that owns the memory of a view."""
    while isinstance(array.base, np.ndarray) and array.base.dtype == array.dtype:
        array = array.base
    return array


def byte_bounds(array: np.ndarray[Any, Any]) -> tuple[int, int]:
    low = high = array.__array_interface__["data"][0]
    for size, stride in zip(array.shape, array.strides, strict=True):
        low, high = low + min(0, (size - 1) * stride), high + max(0, (size - 1) * stride)
    return low, high + array.itemsize


def cells_of(value: Any) -> np.ndarray[Any, Any]:
    """An object array of the same shape whose elements keep their exact scalar type."""
    if isinstance(value, DualArray):
        return value.cells
    if isinstance(value, np.ndarray):
        return dual_array(value).cells
    cells = np.empty((), dtype=object)
    cells[()] = value
    return cells


def wrap(cells: Any, dtype: Any) -> Any:
    return DualArray(cells, dtype) if isinstance(cells, np.ndarray) else cells


def is_array(value: Any) -> bool:
    return isinstance(value, (DualArray, np.ndarray))


def plain_array(array: DualArray) -> np.ndarray[Any, Any]:
    """The numbers under all tags, in the same memory order."""
    out = np.empty_like(array.cells, dtype=array.dtype)
    for index in np.ndindex(array.shape):
        out[index] = base(array.cells[index])
    return out


def bases(value: Any) -> Any:
    """The same structure as NumPy would see it."""
    if isinstance(value, DualArray):
        return plain_array(value)
    if isinstance(value, dict):
        return {key: bases(item) for key, item in value.items()}
    if type(value) in (tuple, list):
        return type(value)(bases(item) for item in value)
    return base(value)


def plain_index(index: Any) -> Any:
    if isinstance(index, tuple):
        return tuple(plain_index(item) for item in index)
    return bases(index) if isinstance(index, (DualArray, list)) else index


def cast(value: Any, dtype: np.dtype[Any]) -> Any:
    """The element that a store of ``value`` leaves."""
    number = base(value)
    if type(number) is dtype.type:
        return value
    if dtype.kind != "f":
        return np.asarray(number).astype(dtype)[()] if isinstance(number, np.generic) else dtype.type(number)
    if isinstance(number, (int, np.integer, np.bool_)):
        return dtype.type(number)
    return apply(Primitive("cast", dtype.type, PARTIALS["identity"]), value)


def cast_cells(array: DualArray, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    out = np.empty_like(array.cells)
    for index in np.ndindex(array.shape):
        out[index] = cast(array.cells[index], dtype)
    return out


def filled(model: Any, elements: Any) -> Any:
    """An array shaped and ordered as ``model`` with the elements of an object array, each cast to the dtype."""
    out = np.empty_like(model, dtype=object)
    source = np.broadcast_to(elements, out.shape)
    for index in np.ndindex(out.shape):
        out[index] = cast(source[index], model.dtype)
    return DualArray(out, model.dtype)


def new_array(values: Any, dtype: Any = None) -> Any:
    """``np.array`` of numbers, arrays and sequences of them."""
    model = np.array(bases(values), dtype=dtype)
    found: list[Any] = []

    def gather(value: Any) -> None:
        if isinstance(value, (tuple, list, range)):
            for item in value:
                gather(item)
        else:
            found.extend(cells_of(value).ravel())

    gather(values)
    cells = np.empty(len(found), dtype=object)
    for position, value in enumerate(found):
        cells[position] = value
    if isinstance(values, DualArray):
        return filled(model, values.cells)
    return filled(model, cells.reshape(model.shape))


# --- operators ------------------------------------------------------------------------------------------------------


def elementwise(primitive: Primitive, *operands: Any) -> Any:
    """Apply to scalars, or with broadcasting to arrays."""
    if not any(is_array(operand) for operand in operands):
        return apply(primitive, *operands)
    model = primitive.compute(*[bases(operand) for operand in operands])
    cells = np.broadcast_arrays(*[cells_of(operand) for operand in operands])
    if not isinstance(model, np.ndarray):
        return apply(primitive, *[cell[()] for cell in cells])
    out = np.empty_like(model, dtype=object)
    for index in np.ndindex(out.shape):
        out[index] = apply(primitive, *[cell[index] for cell in cells])
    return DualArray(out, model.dtype)


def rearranged(compute: Callable[..., Any], *operands: Any) -> Any:
    """For what has no derivative: computed on the plain numbers, an array result as an array of the oracle."""
    result = compute(*[bases(operand) for operand in operands])
    return dual_array(result) if isinstance(result, np.ndarray) else result


def _forward(primitive: Primitive) -> Callable[[Any, Any], Any]:
    return lambda self, other: elementwise(primitive, self, other)


def _reflected(primitive: Primitive) -> Callable[[Any, Any], Any]:
    return lambda self, other: elementwise(primitive, plain_literal(other), self)


def _in_place(name: str, primitive: Primitive) -> Callable[[Any, Any], Any]:
    """``a += b`` writes into a; NumPy is asked first whether it may."""
    on_numbers = getattr(operator, f"i{name}")

    def method(self: DualArray, other: Any) -> DualArray:
        plain = plain_array(self)
        plain.flags.writeable = self.cells.flags.writeable
        on_numbers(plain, bases(other))
        result = elementwise(primitive, self, other)
        self.cells[...] = cast_cells(result, self.dtype) if is_array(result) else cast(result, self.dtype)
        return self

    return method


def _install_operators() -> None:
    for name, primitive in OPERATORS.items():
        setattr(DualArray, f"__{name}__", _forward(primitive))
        setattr(DualArray, f"__r{name}__", _reflected(primitive))
        setattr(DualArray, f"__i{name}__", _in_place(name, primitive))
    for name, primitive in COMPARISONS.items():
        setattr(DualArray, f"__{name}__", _forward(primitive))
    for name, primitive in SIGNS.items():
        setattr(DualArray, f"__{name}__", lambda self, primitive=primitive: elementwise(primitive, self))
    for name in ("and", "or", "xor"):
        primitive = Primitive(name, getattr(operator, f"{name}_" if name != "xor" else name))
        setattr(DualArray, f"__{name}__", _forward(primitive))
        setattr(DualArray, f"__r{name}__", _reflected(primitive))
        setattr(DualArray, f"__i{name}__", _in_place(name, primitive))
    DualArray.__invert__ = lambda self: elementwise(Primitive("invert", operator.invert), self)  # type: ignore[attr-defined]


_install_operators()
