"""Addresses of the C functions that compiled code may call: CPython's, NumPy's and the C library's.

    address("PyFloat_FromDouble")    from the running interpreter
    address("PyArray_New")           from NumPy's table of C functions
    address("mmap")                  from the C library
    address("pb.new.f64")            the allocator of np.float64 objects
    address("pb.miss")               what CPython calls for a bound method: see `callobject`
"""

from __future__ import annotations

import ctypes
from functools import cache

import numpy as np

from pullback.runtime.layout import COMPLEX_SCALARS, METHOD_VECTORCALL, NUMPY_SCALARS
from pullback.types import DType

__all__ = ["address"]

# Positions in NumPy's C-API table, which only ever grows.
_NUMPY = {"PyArray_NewCopy": 85, "PyArray_New": 93, "PyArray_SetBaseObject": 282}
_TP_ALLOC = 47


class _Probe:
    def method(self) -> None:
        """Any method written in Python."""


_probe = _Probe()


@cache
def _numpy_table() -> int:
    core = getattr(np, "_core", None) or np.core
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = get(core._multiarray_umath._ARRAY_API, None)
    assert isinstance(table, int)
    return table


@cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None)


def _of(function: object) -> int:
    found = ctypes.cast(function, ctypes.c_void_p).value  # type: ignore[arg-type]
    assert found
    return found


def _scalar_type(name: str) -> type:
    """The NumPy scalar called f64, ..., or complex.f64 by the dtype of its parts."""
    kind, _, part = name.rpartition(".")
    return (COMPLEX_SCALARS if kind else NUMPY_SCALARS)[DType(part)]


@cache
def address(name: str) -> int:
    """The address of the function or variable that compiled code knows by this name."""
    if name in _NUMPY:
        found = ctypes.c_size_t.from_address(_numpy_table() + 8 * _NUMPY[name]).value
    elif name.startswith("pb.new."):
        get = ctypes.pythonapi.PyType_GetSlot
        get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_int]
        found = get(_scalar_type(name.removeprefix("pb.new.")), _TP_ALLOC)
    elif name == "pb.miss":
        method = _probe.method  # alive while it is read
        found = ctypes.c_size_t.from_address(id(method) + METHOD_VECTORCALL).value
    elif name in ("GetCurrentThreadStackLimits", "QueryPerformanceCounter"):
        found = _of(getattr(ctypes.windll.kernel32, name))  # type: ignore[attr-defined,unused-ignore]
    elif name.startswith(("Py", "_Py")):
        found = _of(getattr(ctypes.pythonapi, name))
    else:
        found = _of(getattr(_library(), name))
    if not found:
        raise RuntimeError(f"no address for {name}")
    return found
