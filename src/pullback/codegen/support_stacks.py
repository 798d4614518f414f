"""The part of the native library that depends on the system: private stacks, and the GIL in polls, as LLVM text.

    pb.relax(context) -> i32        PyErr_CheckSignals, and the GIL for other threads; polls call it
    pb.stack_take() -> ptr          the top of a private stack, or null; pb.stack_give returns it
    pb.switch(top, f, argument)     calls f(argument) there
    pb.stack_limit() -> ptr         where there are no private stacks: the lowest address that recursion may reach

A private stack is address space that the system fills with memory as it is used.  Stacks are kept in a list that the
GIL guards, so a call costs a few instructions; what a deep recursion has used is given back.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from pullback.codegen import abi

__all__ = ["GUARD", "advise", "has_private_stacks", "relax", "stack_size", "stacks", "system"]

GUARD = (64 << 10, 256 << 10)
"""At the low end of a private stack: bytes that cannot be touched, and bytes kept for functions without a check."""

_KEPT = 16 << 20  # bytes of a private stack that stay in memory after a deep recursion
_LARGE = 4 << 20  # bytes of a block from which on large pages are asked for
_SIGNALS = 30_000_000  # nanoseconds after which a call without the GIL looks at signals again


def system(triple: str) -> str:
    """"windows", "darwin" or "linux" (and what behaves like it)."""
    if "windows" in triple:
        return "windows"
    return "darwin" if "darwin" in triple or "macos" in triple else "linux"


def has_private_stacks(triple: str) -> bool:
    """Whether a recursive program can run on a stack of its own on this system."""
    return system(triple) != "windows" and triple.split("-")[0] in ("x86_64", "aarch64", "arm64")


def relax(triple: str) -> str:
    """Signals, and the GIL given away by calls that have done some work already: from their first poll on.

    A call without the GIL takes it back for a moment to look at signals, but not at every poll.
    """
    if system(triple) == "windows":
        # Ticks of 100 ns.
        clock = """  %fine = call i32 @QueryPerformanceCounter(ptr %time)
  %ticks = load i64, ptr %time
  %now = mul i64 %ticks, 100"""
    else:
        # struct timespec {seconds, nanoseconds}; CLOCK_MONOTONIC is 6 on macOS.
        number = 6 if system(triple) == "darwin" else 1
        clock = f"""  %fine = call i32 @clock_gettime(i32 {number}, ptr %time)
  %seconds = load i64, ptr %time
  %place = getelementptr i8, ptr %time, i64 8
  %nanoseconds = load i64, ptr %place
  %scaled = mul i64 %seconds, 1000000000
  %now = add i64 %scaled, %nanoseconds"""
    return f"""
define internal i32 @pb.relax(ptr %context) nounwind noinline {{
  %time = alloca [2 x i64]
{clock}
  %saved_at = getelementptr i8, ptr %context, i64 {abi.THREAD}
  %saved = load ptr, ptr %saved_at
  %held = icmp eq ptr %saved, null
  %last_at = getelementptr i8, ptr %context, i64 {abi.CLOCK}
  br i1 %held, label %look, label %free
free:
  %last = load i64, ptr %last_at
  %passed = sub i64 %now, %last
  %due = icmp ugt i64 %passed, {_SIGNALS}
  br i1 %due, label %take, label %out
take:
  call void @pb.hold(ptr %context)
  br label %look
look:
  store i64 %now, ptr %last_at
  %status = call i32 @PyErr_CheckSignals()
  %bad = icmp ne i32 %status, 0
  br i1 %bad, label %raised, label %leave
leave:
  call void @pb.release_gil(ptr %context)
  br label %out
out:
  ret i32 0
raised:
  ret i32 %status
}}
"""


def advise(triple: str) -> str:
    """Large blocks that are new are to have large pages: the faults of small ones cost more than most kernels.

    NumPy does the same.
    """
    head = "\ndefine internal void @pb.advise(ptr %block, i64 %size) nounwind {\n"
    if system(triple) != "linux":
        return head + "  ret void\n}\n"
    return head + f"""\
  %large = icmp uge i64 %size, {_LARGE}
  br i1 %large, label %some, label %out
some:
  %past = getelementptr i8, ptr %block, i64 4095
  %page = call ptr @llvm.ptrmask.p0.i64(ptr %past, i64 -4096)
  %bytes = sub i64 %size, 4096
  %ignored = call i32 @madvise(ptr %page, i64 %bytes, i32 14)
  br label %out
out:
  ret void
}}
"""


def stack_size() -> int:
    """Virtual bytes of a private stack: a quarter of the memory that this process may use, 64 MiB to 1 GiB.

    That is room for some ten million frames, and an endless recursion is told within a second or two.
    """
    room = 4 << 30
    with suppress(OSError, ValueError, AttributeError):
        room = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    with suppress(OSError, ValueError):
        room = min(room, int(Path("/sys/fs/cgroup/memory.max").read_text()))
    size = 64 << 20
    while size * 2 <= min(room // 4, 1 << 30):
        size *= 2
    return size


_SWITCH = """
define void @pb.switch(ptr %top, ptr %function, ptr %argument) nounwind {
  call void @pb.on_stack(ptr %top, ptr %function, ptr %argument)
  ret void
}
"""


def stacks(triple: str, size: int) -> str:
    """Private stacks: mapped when first needed, then kept.  At the top of each a record: next, lowest address, size."""
    if not has_private_stacks(triple):
        return _thread_stack(triple)
    # Large pages make the first deep recursion several times faster; the upper end keeps small ones for shallow calls.
    advice = f"""
  %deep = sub i64 %size, {4 << 20}
  %advised = call i32 @madvise(ptr %base, i64 %deep, i32 14)""" if system(triple) == "linux" else ""
    flags = {"linux": 0x2 | 0x20 | 0x4000, "darwin": 0x2 | 0x1000 | 0x40}[system(triple)]
    return f"""
@pb.stacks = internal global ptr null

define ptr @pb.stack_take() nounwind {{
  %first = load ptr, ptr @pb.stacks
  %none = icmp eq ptr %first, null
  br i1 %none, label %map, label %take
take:
  %next = load ptr, ptr %first
  store ptr %next, ptr @pb.stacks
  ret ptr %first
map:
  %new = call ptr @pb.stack_map()
  ret ptr %new
}}

define internal ptr @pb.stack_map() nounwind noinline cold {{
entry:
  br label %try
try:
  %size = phi i64 [ {size}, %entry ], [ %less, %again ]
  %base = call ptr @mmap(ptr null, i64 %size, i32 3, i32 {flags}, i32 -1, i64 0)
  %failed = icmp eq ptr %base, inttoptr (i64 -1 to ptr)
  br i1 %failed, label %again, label %made
again:
  %less = lshr i64 %size, 1
  %enough = icmp uge i64 %less, {8 << 20}
  br i1 %enough, label %try, label %out
made:
  %ignored = call i32 @mprotect(ptr %base, i64 {GUARD[0]}, i32 0){advice}
  %end = getelementptr i8, ptr %base, i64 %size
  %top = getelementptr i8, ptr %end, i64 -64
  %p1 = getelementptr i8, ptr %top, i64 8
  %p2 = getelementptr i8, ptr %top, i64 16
  store ptr null, ptr %top
  store ptr %base, ptr %p1
  store i64 %size, ptr %p2
  br label %out
out:
  %result = phi ptr [ null, %again ], [ %top, %made ]
  ret ptr %result
}}

; frames leave return addresses: any bit set near the mark says that the stack was used that deep
define void @pb.stack_give(ptr %top) nounwind {{
entry:
  %p1 = getelementptr i8, ptr %top, i64 8
  %p2 = getelementptr i8, ptr %top, i64 16
  %base = load ptr, ptr %p1
  %size = load i64, ptr %p2
  %first = load ptr, ptr @pb.stacks
  store ptr %first, ptr %top
  store ptr %top, ptr @pb.stacks
  %large = icmp ugt i64 %size, {2 * _KEPT}
  %mark = getelementptr i8, ptr %top, i64 {-_KEPT}
  br i1 %large, label %loop, label %out
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %loop ]
  %any = phi i64 [ 0, %entry ], [ %any1, %loop ]
  %place = getelementptr i64, ptr %mark, i64 %i
  %word = load i64, ptr %place
  %any1 = or i64 %any, %word
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, 256
  br i1 %more, label %loop, label %test
test:
  %used = icmp ne i64 %any1, 0
  br i1 %used, label %drop, label %out
drop:
  call void @llvm.memset.p0.i64(ptr %mark, i8 0, i64 2048, i1 false)
  %low = getelementptr i8, ptr %base, i64 {GUARD[0]}
  %bytes = sub i64 %size, {GUARD[0] + _KEPT - (64 << 10)}
  %ignored = call i32 @madvise(ptr %low, i64 %bytes, i32 4)
  br label %out
out:
  ret void
}}

define ptr @pb.stack_limit() nounwind {{
  ret ptr null
}}
{_SWITCH}"""


def _thread_stack(triple: str) -> str:
    """No private stacks: the limit is that of the thread's own stack, or a cautious guess."""
    if system(triple) == "windows":
        find = """  %low = alloca ptr
  %high = alloca ptr
  call void @GetCurrentThreadStackLimits(ptr %low, ptr %high)
  %base = load ptr, ptr %low"""
    else:
        find = """  %here = call ptr @llvm.stacksave.p0()
  %base = getelementptr i8, ptr %here, i64 -1048576"""
    return f"""
define ptr @pb.stack_limit() nounwind {{
{find}
  %limit = getelementptr i8, ptr %base, i64 {GUARD[1]}
  ret ptr %limit
}}

define ptr @pb.stack_take() nounwind {{
  ret ptr null
}}

define void @pb.stack_give(ptr %top) nounwind {{
  ret void
}}
{_SWITCH}"""
