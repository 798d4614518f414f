"""How many threads run parallel loops, and what `prange` is in plain Python.

    pb.set_num_threads(2)      from now on, in this process
    PULLBACK_NUM_THREADS=2     from the start

The number of threads never changes a result: how a loop is cut into blocks depends on its length alone.
"""

from __future__ import annotations

import ctypes
import os

__all__ = ["BLAS", "MOST", "WANTED", "get_num_threads", "prange", "set_num_threads"]

MOST = 256


def _first() -> int:
    """As many as this process may use, unless PULLBACK_NUM_THREADS says otherwise."""
    asked = os.environ.get("PULLBACK_NUM_THREADS", "")
    if asked.strip().isdigit() and int(asked) > 0:
        return min(int(asked), MOST)
    if hasattr(os, "sched_getaffinity"):
        return min(len(os.sched_getaffinity(0)), MOST)
    return min(os.cpu_count() or 1, MOST)


WANTED = ctypes.c_int64(_first())
"""The number, where compiled code reads it."""

BLAS = (ctypes.c_void_p * 2)()
"""C functions that get and set the number of BLAS's own threads, once they are known: see `codegen.matrix`."""


def set_num_threads(number: int) -> None:
    """Let parallel loops run on this many threads, the calling one included; 1 is no other thread."""
    if isinstance(number, bool) or not isinstance(number, int):
        raise TypeError(f"the number of threads is an int, not {type(number).__name__}")
    if not 1 <= number <= MOST:
        raise ValueError(f"the number of threads lies between 1 and {MOST}, not at {number}")
    WANTED.value = number


def get_num_threads() -> int:
    """On how many threads parallel loops run."""
    return WANTED.value


def prange(start: int, stop: int | None = None, step: int = 1) -> range:
    """range(...) whose trips are independent: in compiled code they may run at the same time (docs/parallel.md).

        for i in pb.prange(n):
            out[i] = f(a[i])        each trip writes elements of its own, or adds to them
            total += out[i]         sums, products, minima, maxima, `and` and `or` are carried; nothing else is
    """
    return range(start) if stop is None else range(start, stop, step)


prange.__dict__["__pullback_builtin__"] = "pullback.prange"
