"""Addresses of the C functions that the elementary functions fall back on.

    address("lgamma")     ->  where the C library's lgamma lies
    address("psi")        ->  SciPy's digamma, through the capsules of scipy.special.cython_special

They are looked up when a program first needs them, so a platform without one of them still runs all others.
"""

from __future__ import annotations

import ctypes
import functools
import sys

# The functions of scipy.special.cython_special that generated code may call, all of doubles, with how many they take.
POINTERS = {
    "psi": 1, "erfinv": 1, "erfcinv": 1, "dawsn": 1, "ndtri": 1, "beta": 2, "betaln": 2, "binom": 2, "poch": 2,
    "gammainc": 2, "gammaincc": 2, "betainc": 3, "zetac": 1, "j0": 1, "j1": 1, "y0": 1, "y1": 1, "k0": 1, "k1": 1,
    "jv": 2, "yv": 2, "iv": 2, "ive": 2, "kv": 2, "kve": 2, "expn": 2, "exp1": 1, "expi": 1, "ellipk": 1,
    "ellipkm1": 1, "ellipe": 1, "hyp2f1": 4, "hyp1f1": 3, "spence": 1,
}  # fmt: skip
# What LLVM itself may call: for fma, rounding and the like where the processor has no such instruction.
RUNTIME = ("fma", "fmaf", "floor", "floorf", "ceil", "ceilf", "trunc", "truncf", "rint", "rintf", "fmod", "fmodf")


class MissingFunction(Exception):
    """The platform's libraries lack a function that was asked for."""


def address(function: str) -> int:
    """Return the address of a C function of the platform, or raise `MissingFunction`."""
    if function in POINTERS:
        return _capsule_address(function, POINTERS[function])
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


def _capsule_address(function: str, arity: int) -> int:
    """The one of a function's variants (for floats, doubles, complex numbers) that takes doubles."""
    from scipy.special import cython_special  # here because it takes a fifth of a second to load

    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    get_name = ctypes.pythonapi.PyCapsule_GetName
    get_name.restype, get_name.argtypes = ctypes.c_char_p, (ctypes.py_object,)
    signature = f"double ({'double, ' * arity}int __pyx_skip_dispatch)".encode()
    for name in (function, f"__pyx_fuse_0{function}", f"__pyx_fuse_1{function}"):
        capsule = cython_special.__pyx_capi__.get(name)
        if capsule is not None and get_name(capsule) == signature:
            return int(get_pointer(capsule, signature))
    raise MissingFunction(f"this SciPy has no {function} of the form {signature.decode()}")
