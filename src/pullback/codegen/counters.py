"""Counts of what compiled code has done in this process: memory and loops.

    read(reset=True); g = gradient(a, x); read()    ->    Stats(bytes_allocated=8000000, allocations=1, kernels=1, ...)

Allocations and what frees them keep the counts of memory (`runtime_text`); each loop nest and each product of matrices
adds one to its own count where it starts.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

from pullback.codegen import abi, shared
from pullback.codegen.runtime_text import BYTES, COUNT, LIVE, PEAK

__all__ = ["Stats", "read"]


@dataclass(frozen=True, slots=True)
class Stats:
    """What compiled code did since the counts were reset.

    bytes_allocated, allocations: memory asked for, whether it came from the system or from a pool.
    peak_bytes: the most that was in use at one time, arrays that Python holds included.
    live_bytes: in use now; compiled code keeps nothing between calls, so these are arrays that Python holds.
    kernels: elementwise loop nests run.  matrix_products: products of matrices run.
    specializations: versions of functions compiled, or loaded from disk.
    """

    bytes_allocated: int
    allocations: int
    peak_bytes: int
    live_bytes: int
    kernels: int
    matrix_products: int
    specializations: int = 0


def read(*, reset: bool = False) -> Stats:
    """The counts; `reset` lets them begin anew after this reading (the peak at what is in use)."""
    memory, work = _cells("pb.memory", 4), _cells("pb.work", 2)
    total, count, peak, live = (place // 8 for place in (BYTES, COUNT, PEAK, LIVE))
    found = Stats(memory[total], memory[count], memory[peak], memory[live], work[abi.KERNELS], work[abi.PRODUCTS])
    if reset:
        memory[total] = memory[count] = 0
        memory[peak] = memory[live]
        work[abi.KERNELS] = work[abi.PRODUCTS] = 0
    return found


def _cells(name: str, count: int) -> ctypes.Array[ctypes.c_int64]:
    return (ctypes.c_int64 * count).from_address(shared.address(name))
