"""References to Python's objects taken and given back in place: a part of the native library.

    pb.own(object)       Py_IncRef        pb.drop(object)      Py_DecRef; only the last reference is CPython's business

The count is the first word of an object.  Counts outside of the usual range (objects that never end have large ones)
are left to CPython, and so are all where the layout is another (no lock: two counts in each object).
"""

from __future__ import annotations

from pullback.runtime.layout import HEADER

__all__ = ["COUNTS"]

_MANY = 1 << 30


def _counting(name: str, function: str, step: int, least: int) -> str:
    return f"""
define internal void @{name}(ptr %object) nounwind alwaysinline {{
  %count = load i32, ptr %object
  %past = sub i32 %count, {least}
  %usual = icmp ult i32 %past, {_MANY}
  br i1 %usual, label %fast, label %slow, !prof !0
fast:
  %next = add i32 %count, {step}
  store i32 %next, ptr %object
  ret void
slow:
  call void @{function}(ptr %object)
  ret void
}}
"""


def _calling(name: str, function: str) -> str:
    return f"""
define internal void @{name}(ptr %object) nounwind alwaysinline {{
  call void @{function}(ptr %object)
  ret void
}}
"""


_PAIRS = (("pb.own", "Py_IncRef", 1, 1), ("pb.drop", "Py_DecRef", -1, 2))
COUNTS = "".join(_counting(*pair) if HEADER == 16 else _calling(*pair[:2]) for pair in _PAIRS)
