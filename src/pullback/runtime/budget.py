"""The memory that one call of a derivative may take for what its reverse pass needs.

    pb.set_memory_budget(1 << 30)        from now on, in this process; None: the share of memory again
    PULLBACK_MEMORY_BUDGET=1073741824    from the start

Loops whose residuals would take more keep snapshots and run trips again (`ad.schedule`).  No result depends on it.
"""

from __future__ import annotations

import ctypes
import os

__all__ = ["EXCEEDED", "WANTED", "checked", "get_memory_budget", "set_memory_budget", "take_exceeded"]

_SHARE = 4  # by default a quarter of the machine's memory
_UNKNOWN = 16 << 30  # taken for the machine's memory where the system does not tell
_SMALLEST = 1 << 12


def _physical() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return _UNKNOWN


def _asked() -> int | None:
    asked = os.environ.get("PULLBACK_MEMORY_BUDGET", "").strip()
    return max(int(asked), _SMALLEST) if asked.isdigit() and int(asked) > 0 else None


def _first() -> int:
    return _asked() or _physical() // _SHARE


WANTED = ctypes.c_int64(_first())
"""The number of bytes, where compiled code reads it."""


EXCEEDED = ctypes.c_int64(0)
"""Set by a call that gave up before anything could be seen of it, because a loop would not have kept within that."""


def take_exceeded() -> bool:
    """Has a call given up since the last question.

    Another thread may take the answer: who gave up asks again after another attempt.
    """
    found = EXCEEDED.value != 0
    EXCEEDED.value = 0
    return found


def checked(size: object, what: str = "a memory budget") -> int:
    """The size, if it is one."""
    if isinstance(size, bool) or not isinstance(size, int):
        raise TypeError(f"{what} is a number of bytes, not {type(size).__name__}")
    if size < _SMALLEST:
        raise ValueError(f"{what} is at least {_SMALLEST} bytes, not {size}")
    return size


def set_memory_budget(size: int | None) -> None:
    """Let what a reverse pass needs take this many bytes; None: a quarter of the machine's memory.

    It is read when a loop begins: nothing is compiled again.  Results do not depend on it, only memory and time.
    """
    WANTED.value = _physical() // _SHARE if size is None else checked(size)


def get_memory_budget() -> int:
    """The bytes that what a reverse pass needs may take."""
    return WANTED.value
