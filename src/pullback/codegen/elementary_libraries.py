"""Addresses of the C functions that the elementary functions fall back on.

    address("lgamma")     ->  where the C library's lgamma lies
    address("psi")        ->  SciPy's digamma, through the capsules of scipy.special.cython_special

They are looked up when a program first needs them, so a platform without one of them still runs all others.
"""

from __future__ import annotations

import ctypes
import functools
import sys

CAPSULES = {"psi": ("__pyx_fuse_1psi", b"double (double, int __pyx_skip_dispatch)")}
# What LLVM itself may call: for fma, rounding and the like where the processor has no such instruction.
RUNTIME = ("fma", "fmaf", "floor", "floorf", "ceil", "ceilf", "trunc", "truncf", "rint", "rintf", "fmod", "fmodf")


class MissingFunction(Exception):
    """The platform's libraries lack a function that was asked for."""


def address(function: str) -> int:
    """Return the address of a C function of the platform, or raise `MissingFunction`."""
    if function in CAPSULES:
        return _capsule_address(*CAPSULES[function])
    for library in _libraries():
        try:
            pointer = getattr(library, function)
        except AttributeError:
            continue
        found = ctypes.cast(pointer, ctypes.c_void_p).value
        if found:
            return found
    raise MissingFunction(f"the C library of this platform ({sys.platform}) has no function {function!r}")


@functools.cache
def _libraries() -> tuple[ctypes.CDLL, ...]:
    names = {
        "win32": ("ucrtbase", "msvcrt"),
        "darwin": (None, "libSystem.dylib"),
    }.get(sys.platform, ("libm.so.6", "libm.so", None))
    loaded = []
    for name in names:
        try:
            loaded.append(ctypes.CDLL(name))
        except OSError:
            continue
    return tuple(loaded)


def _capsule_address(name: str, signature: bytes) -> int:
    from scipy.special import cython_special  # here because it takes a fifth of a second to load

    capsule = cython_special.__pyx_capi__.get(name)
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    get_name = ctypes.pythonapi.PyCapsule_GetName
    get_name.restype, get_name.argtypes = ctypes.c_char_p, (ctypes.py_object,)
    if capsule is None or get_name(capsule) != signature:
        raise MissingFunction(f"this SciPy has no {name} of the form {signature.decode()}")
    return int(get_pointer(capsule, signature))
