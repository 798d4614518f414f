"""The number of threads that SciPy's BLAS uses itself: one, while a parallel loop of ours runs.

The functions that get and set it are found in the library that SciPy brings along; where it brings none of the known
kind, BLAS keeps its own mind and only the speed of products in parallel loops suffers.
"""

from __future__ import annotations

import ctypes
from contextlib import suppress
from functools import cache

from pullback.codegen import scipy_blas
from pullback.runtime.threads import BLAS

__all__ = ["connect"]

_PREFIXES = ("scipy_openblas", "openblas")


@cache
def connect() -> None:
    """Let parallel loops know the functions."""
    home = scipy_blas.home()
    for folder in (home.parent / "scipy.libs", home / ".dylibs"):
        for path in sorted(folder.glob("*openblas*")):
            with suppress(OSError):
                if _known(ctypes.CDLL(str(path))):
                    return


def _known(library: ctypes.CDLL) -> bool:
    for prefix in _PREFIXES:
        with suppress(AttributeError):
            get, set_ = (getattr(library, f"{prefix}_{verb}_num_threads") for verb in ("get", "set"))
            BLAS[0], BLAS[1] = (ctypes.cast(f, ctypes.c_void_p).value for f in (get, set_))
            return True
    return False
