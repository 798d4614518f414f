"""Tuples that get longer and longer: what `t + (x,)` and `(*t, x)` make has its length at run time then.

    path = ()
    for k in range(n):                 Tuple(()) | Tuple((float,)) | Tuple((float, float)) | ...
        path = path + (x * k,)    ->   Tuple(()) | Ref(tuple of this op): items float

Which ops these are shows when a type has more and more lengths; inference starts again, and these ops make rows of a
heap.
"""

from __future__ import annotations

from pullback.infer.engine import JOINED, Frame

__all__ = ["is_of_run_time"]


def is_of_run_time(cx: Frame, count: int) -> bool:
    """Does the op that is being inferred make tuples of run-time length?  If not, it makes one of so many items."""
    if cx.op is None:
        return False
    if (JOINED, cx.op.span) in cx.session.rows:
        return True
    if not cx.code.is_prelude:
        cx.session.lengths.setdefault((JOINED, (cx.code, cx.op)), set()).add(count)
    return False
