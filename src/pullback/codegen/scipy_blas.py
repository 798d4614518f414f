"""Addresses of the BLAS and LAPACK functions that SciPy brings along.

    address("dgemm")     ->  0x7f...      32-bit ints, Fortran's calling convention

They are looked up in the library that SciPy's extension module `cython_blas` is linked with, without importing
`scipy.linalg`: that takes a fifth of a second, most of a first call whose code is kept.  Where the library calls them
otherwise (another BLAS, another system), SciPy is imported and asked.
"""

from __future__ import annotations

import ctypes
from contextlib import suppress
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec
from pathlib import Path

from pullback.diagnostic import InternalError

__all__ = ["address", "home"]

# SciPy's own OpenBLAS with 32-bit ints; names of one with 64-bit ints end in `64_`.
_NAME = "scipy_{}_"


def address(function: str) -> int:
    """The address of a function by its usual name."""
    return _linked(function) or _exported(function)


@cache
def home() -> Path:
    """Where SciPy is; it is not imported."""
    spec = find_spec("scipy")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError("products of matrices need SciPy", name="scipy")
    return Path(spec.submodule_search_locations[0])


@cache
def _library() -> ctypes.CDLL | None:
    for suffix in EXTENSION_SUFFIXES:
        path = home() / "linalg" / f"cython_blas{suffix}"
        if path.exists():
            with suppress(OSError):
                return ctypes.CDLL(str(path))
    return None


def _linked(function: str) -> int:
    """The address in the library; 0 if it is not called so there."""
    pointer = getattr(_library(), _NAME.format(function), None)
    return 0 if pointer is None else ctypes.cast(pointer, ctypes.c_void_p).value or 0


def _exported(function: str) -> int:
    from scipy.linalg import cython_blas, cython_lapack

    known = cython_blas.__pyx_capi__
    capsule = known[function] if function in known else cython_lapack.__pyx_capi__[function]
    get_name = ctypes.pythonapi.PyCapsule_GetName
    get_name.restype, get_name.argtypes = ctypes.c_char_p, (ctypes.py_object,)
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    signature = get_name(capsule)
    if b"int *" not in signature:
        raise InternalError(f"SciPy's {function} has an unknown form: {signature.decode()}")
    return int(get_pointer(capsule, signature))
