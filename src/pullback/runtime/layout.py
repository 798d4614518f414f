"""Where CPython and NumPy keep the fields that compiled code reads and writes without a function call.

    float          value at 16                     np.float64, np.int64, ...   value at 16
    tuple          length 16, items at 24 or 32    list   length 16, pointer to the items 24
    cell           content 16                      ndarray   data 16, rank 24, sizes 32, strides 40, descr 56, flags 64
    bound method   function 16, self 24, vectorcall 40

The figures follow from `object.__basicsize__`; `verify` compares them with live objects before anything is compiled, so
an interpreter with another layout is refused by name and never misread.
"""

from __future__ import annotations

import ctypes
import sys
import types
from functools import cache

import numpy as np

from pullback.types import DType

__all__ = [
    "ALIGNED", "ARRAY_DATA", "ARRAY_DESCR", "ARRAY_FLAGS", "ARRAY_RANK", "ARRAY_SIZES", "ARRAY_STRIDES", "CELL_CONTENT",
    "COMPLEX_SCALARS", "C_CONTIGUOUS", "DESCR_BYTEORDER", "DESCR_ITEM", "DESCR_TYPE_NUMBER", "FLOAT_VALUE", "HEADER",
    "LENGTH", "LIST_ITEMS", "METHOD_FUNCTION", "METHOD_SELF", "METHOD_VECTORCALL", "NUMPY_SCALARS", "NUMPY_VALUE",
    "OBJECT_TYPE", "SET_FILL", "SET_FINGER", "SET_MASK", "SET_TABLE", "SET_USED", "TUPLE_ITEMS", "TYPE_FLAGS",
    "WRITEABLE", "numpy_type_numbers", "verify",
]  # fmt: skip

HEADER = object.__basicsize__
OBJECT_TYPE = HEADER - 8
FLOAT_VALUE = HEADER
NUMPY_VALUE = HEADER
LENGTH = HEADER
TUPLE_ITEMS = tuple.__basicsize__
LIST_ITEMS = HEADER + 8
CELL_CONTENT = HEADER
SET_FILL, SET_USED, SET_MASK, SET_TABLE, SET_FINGER = HEADER, HEADER + 8, HEADER + 16, HEADER + 24, HEADER + 40
METHOD_FUNCTION, METHOD_SELF, METHOD_VECTORCALL = HEADER, HEADER + 8, HEADER + 24
ARRAY_DATA, ARRAY_RANK, ARRAY_SIZES, ARRAY_STRIDES = HEADER, HEADER + 8, HEADER + 16, HEADER + 24
ARRAY_DESCR, ARRAY_FLAGS = HEADER + 40, HEADER + 48
DESCR_BYTEORDER, DESCR_TYPE_NUMBER = HEADER + 10, HEADER + 12
DESCR_ITEM = HEADER + (16 if np.__version__.startswith("1.") else 24)  # bytes of an element; the lower half, from 2.0
TYPE_VECTORCALL_OFFSET, TYPE_FLAGS = HEADER + 40, HEADER + 152
C_CONTIGUOUS, ALIGNED, WRITEABLE = 0x1, 0x100, 0x400

NUMPY_SCALARS: dict[DType, type[np.generic]] = {
    DType.BOOL: np.bool_,
    DType.I8: np.int8,
    DType.I16: np.int16,
    DType.I32: np.int32,
    DType.I64: np.int64,
    DType.U8: np.uint8,
    DType.U16: np.uint16,
    DType.U32: np.uint32,
    DType.U64: np.uint64,
    DType.F16: np.float16,
    DType.F32: np.float32,
    DType.F64: np.float64,
}

COMPLEX_SCALARS: dict[DType, type[np.generic]] = {DType.F32: np.complex64, DType.F64: np.complex128}
"""By the dtype of the parts."""


def numpy_type_numbers(dtype: DType) -> tuple[int, ...]:
    """NumPy's numbers of the types with this representation, the usual one first (C has two ints of some widths)."""
    usual = np.dtype(NUMPY_SCALARS[dtype])
    aliases = [np.dtype(code) for code in "ilqILQ"]  # int, long and long long of C
    return tuple(dict.fromkeys([usual.num, *(alias.num for alias in aliases if alias == usual)]))


def _bits(at: int, size: int) -> bytes:
    return ctypes.string_at(at, size)


def _word(at: int) -> int:
    return ctypes.c_size_t.from_address(at).value


def _array_faults() -> list[str]:
    array = np.arange(12.0).reshape(3, 4)[:, ::2]
    at = id(array)
    descr = id(array.dtype)
    facts = {
        "data": (_word(at + ARRAY_DATA), array.ctypes.data),
        "rank": (ctypes.c_int.from_address(at + ARRAY_RANK).value, 2),
        "sizes": (_bits(_word(at + ARRAY_SIZES), 16), np.array([3, 2], np.intp).tobytes()),
        "strides": (_bits(_word(at + ARRAY_STRIDES), 16), np.array([32, 16], np.intp).tobytes()),
        "descr": (_word(at + ARRAY_DESCR), descr),
        "flags": (ctypes.c_int.from_address(at + ARRAY_FLAGS).value, array.flags.num),
        "type number": (ctypes.c_int.from_address(descr + DESCR_TYPE_NUMBER).value, array.dtype.num),
        "item size": (ctypes.c_int.from_address(descr + DESCR_ITEM).value, array.dtype.itemsize),
        "byte order": (_bits(descr + DESCR_BYTEORDER, 1), b"="),
    }
    return [f"ndarray {name}" for name, (found, known) in facts.items() if found != known]


def _object_faults() -> list[str]:
    value, pair, items = 0.1, (object(), 0.5), [object(), 0.5]
    cell = types.CellType(value)
    method = types.MethodType(_object_faults, pair)
    facts = {
        "object type": (_word(id(value) + OBJECT_TYPE), id(float)),
        "float": (_bits(id(value) + FLOAT_VALUE, 8), np.float64(value).tobytes()),
        "tuple length": (_word(id(pair) + LENGTH), 2),
        "tuple items": (_word(id(pair) + TUPLE_ITEMS + 8), id(pair[1])),
        "list length": (_word(id(items) + LENGTH), 2),
        "list items": (_word(_word(id(items) + LIST_ITEMS) + 8), id(items[1])),
        "cell": (_word(id(cell) + CELL_CONTENT), id(value)),
        "method function": (_word(id(method) + METHOD_FUNCTION), id(method.__func__)),
        "method self": (_word(id(method) + METHOD_SELF), id(method.__self__)),
        "method vectorcall": (_word(id(types.MethodType) + TYPE_VECTORCALL_OFFSET), METHOD_VECTORCALL),
        "type flags": (_word(id(float) + TYPE_FLAGS), float.__flags__),
    }
    return [name for name, (found, known) in facts.items() if found != known]


def _set_faults() -> list[str]:
    value = {8 * i for i in range(20)}
    value.discard(8)
    at, entries = id(value), _word(id(value) + SET_TABLE)
    mask, used = _word(at + SET_MASK), _word(at + SET_USED)
    if mask != 127 or used != 19:
        return ["set"]
    keys = [_word(entries + 16 * i) for i in range(mask + 1) if _word(entries + 16 * i + 8) < 2**63]
    found = [ctypes.cast(key, ctypes.py_object).value for key in keys if key]
    return [] if found == list(value) and _word(at + SET_FILL) == 20 else ["set"]


def _scalar_faults() -> list[str]:
    values: list[np.generic] = [
        np.complex64(1 - 2j), np.complex128(1 - 2j), *(kind(1) for kind in NUMPY_SCALARS.values()),
    ]  # fmt: skip
    return [
        type(value).__name__
        for value in values
        if _bits(id(value) + NUMPY_VALUE, value.dtype.itemsize) != value.tobytes()
    ]


@cache
def verify() -> None:
    """Raise RuntimeError if this interpreter keeps objects in another way than compiled code expects."""
    if sys.implementation.name != "cpython" or ctypes.sizeof(ctypes.c_void_p) != 8 or sys.byteorder != "little":
        raise RuntimeError("pullback needs CPython on a 64-bit little-endian processor")
    if not getattr(sys, "_is_gil_enabled", lambda: True)() or HEADER != 16:
        raise RuntimeError("pullback does not support free-threaded builds of CPython: use the standard build")
    if hasattr(sys, "gettotalrefcount"):
        raise RuntimeError("pullback does not support debug builds of CPython: use the standard build")
    faults = _object_faults() + _set_faults() + _scalar_faults() + _array_faults()
    if faults:
        raise RuntimeError(
            f"objects are not laid out as pullback expects ({', '.join(faults)}); "
            f"Python {sys.version.split()[0]}, NumPy {np.__version__}: please report this"
        )
