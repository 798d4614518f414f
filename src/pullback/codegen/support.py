"""The native library that all compiled functions share, made once and never unloaded.

    pb.vectorcall      a call object's entry: begins its chain of specializations
    pb.call_bound      a builtin for Python: runs the chain on arguments in the order of the parameters
    pb.bound_miss      the end of that chain: gives back MISS
    pb.fail            raises the exception of a status
    pb.array           a NumPy array for a result, without a copy
    pb.settle          unlinks the memory handed to Python and frees the rest
    pb.relax           signals, and a turn for other threads; stands in for PyErr_CheckSignals in polls
    pb.stack_take      a private stack for a recursive program; pb.stack_give returns it

An entry is `ptr (ptr self, ptr args, i64 count, ptr names, ptr cursor)`: a vectorcall with a cursor into the chain, an array of
entries that ends in a miss.  What does not apply to its arguments calls the next one, so entries are immutable and may be
shared by any number of call objects.  Everything here runs with the GIL held, which guards the pool of stacks.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path

import numpy as np

from pullback.codegen import abi, jit, memory
from pullback.codegen import cache as store
from pullback.codegen.target import fingerprint
from pullback.runtime import callobject, errors, layout, symbols

__all__ = ["BOUND", "GUARD", "Handed", "addresses", "blocks_in_use", "imports_of", "system", "text"]

BOUND = 1 << 62
"""Set in the count of arguments by pb.call_bound: they are all the parameters, keyword-only ones too."""

GUARD = (64 << 10, 256 << 10)
"""At the low end of a private stack: bytes that cannot be touched, and bytes kept for functions without a check."""

_KEPT = 16 << 20  # bytes of a private stack that stay in memory after a deep recursion
_TURN = 5_000_000  # nanoseconds between turns given to other threads, as CPython's switch interval


class Handed:
    """The record of memory handed to Python in one call: a count, then (block, capsule) pairs."""

    @staticmethod
    def size(arrays: int) -> int:
        return 8 + 16 * arrays


_EXPORTS = (
    "pb.vectorcall", "pb.call_bound", "pb.bound_miss", "pb.fail", "pb.array", "pb.settle", "pb.relax", "pb.stack_take",
    "pb.stack_give", "pb.switch", "pb.stack_limit", "pb.blocks",
)  # fmt: skip

_CALLS = f"""
define ptr @pb.vectorcall(ptr %self, ptr %args, i64 %count, ptr %names) nounwind {{
  %place = getelementptr i8, ptr %self, i64 {callobject.CHAIN}
  %plain = icmp eq ptr %names, null
  br i1 %plain, label %positional, label %keywords, !prof !0
positional:
  %chain = load ptr, ptr %place
  %first = load ptr, ptr %chain
  %r1 = tail call ptr %first(ptr %self, ptr %args, i64 %count, ptr null, ptr %chain)
  ret ptr %r1
keywords:
  %r2 = tail call ptr @pb.miss(ptr %self, ptr %args, i64 %count, ptr %names, ptr null)
  ret ptr %r2
}}

define ptr @pb.call_bound(ptr %module, ptr %args, i64 %count) nounwind {{
  %self = load ptr, ptr %args
  %place = getelementptr i8, ptr %self, i64 {callobject.BOUND_CHAIN}
  %chain = load ptr, ptr %place
  %first = load ptr, ptr %chain
  %rest = getelementptr i8, ptr %args, i64 8
  %fewer = sub i64 %count, 1
  %marked = or i64 %fewer, {BOUND}
  %result = tail call ptr %first(ptr %self, ptr %rest, i64 %marked, ptr null, ptr %chain)
  ret ptr %result
}}

define ptr @pb.bound_miss(ptr %self, ptr %args, i64 %count, ptr %names, ptr %cursor) nounwind {{
  call void @Py_IncRef(ptr @pb.MISS)
  ret ptr @pb.MISS
}}
"""


def _fail() -> str:
    """Boxes status, site and payload and calls errors.make_error, whose answer is raised."""
    numbers = [("status", "%wide"), ("site", "%site"), *((f"p{i}", f"%payload{i}") for i in range(abi.PAYLOAD_COUNT))]
    lines = [f"  %site = load i64, ptr %context\n  %wide = sext i32 %status to i64"]
    for i in range(abi.PAYLOAD_COUNT):
        lines.append(f"  %at{i} = getelementptr i8, ptr %context, i64 {abi.PAYLOAD + 8 * i}")
        lines.append(f"  %payload{i} = load i64, ptr %at{i}")
    for name, value in numbers:
        lines.append(f"  %{name}.o = call ptr @PyLong_FromLongLong(i64 {value})")
    for i, value in enumerate(("%sites", "%span", *(f"%{name}.o" for name, _ in numbers))):
        lines.append(f"  %slot{i} = getelementptr ptr, ptr %arguments, i64 {i}\n  store ptr {value}, ptr %slot{i}")
    count = 2 + len(numbers)
    drops = "\n".join(f"  call void @Py_DecRef(ptr %{name}.o)" for name, _ in numbers)
    return f"""
define ptr @pb.fail(ptr %context, i32 %status, ptr %sites, ptr %span) nounwind noinline cold {{
  %arguments = alloca [{count} x ptr]
  %known = icmp eq i32 %status, {abi.EXCEPTION}
  br i1 %known, label %out, label %make
make:
{chr(10).join(lines)}
  %error = call ptr @PyObject_Vectorcall(ptr @pb.make_error, ptr %arguments, i64 {count}, ptr null)
{drops}
  %failed = icmp eq ptr %error, null
  br i1 %failed, label %out, label %raise
raise:
  %place = getelementptr i8, ptr %error, i64 {layout.OBJECT_TYPE}
  %type = load ptr, ptr %place
  call void @PyErr_SetObject(ptr %type, ptr %error)
  call void @Py_DecRef(ptr %error)
  br label %out
out:
  ret ptr null
}}
"""


# sizes, steps: of the result; steps may be null, for a contiguous one.
_ARRAY = f"""
@pb.blocks = global i64 0
@pb.block_name = internal constant [15 x i8] c"pullback.block\\00"

define internal void @pb.block_dropped(ptr %capsule) nounwind {{
  %block = call ptr @PyCapsule_GetPointer(ptr %capsule, ptr @pb.block_name)
  %before = load i64, ptr @pb.blocks
  %after = sub i64 %before, 1
  store i64 %after, ptr @pb.blocks
  call void @pb.release(ptr %block)
  ret void
}}

; the block of the context's list that holds an address
define internal ptr @pb.find(ptr %context, ptr %address) nounwind {{
entry:
  %head = getelementptr i8, ptr %context, i64 {abi.LIST}
  %first = load ptr, ptr %head
  br label %loop
loop:
  %block = phi ptr [ %first, %entry ], [ %next, %step ]
  %none = icmp eq ptr %block, null
  br i1 %none, label %out, label %look
look:
  %p3 = getelementptr i8, ptr %block, i64 -8
  %size = load i64, ptr %p3
  %end = getelementptr i8, ptr %block, i64 %size
  %from = icmp uge ptr %address, %block
  %to = icmp ult ptr %address, %end
  %inside = and i1 %from, %to
  %start = icmp eq ptr %address, %block
  %found = or i1 %inside, %start
  br i1 %found, label %out, label %step
step:
  %p0 = getelementptr i8, ptr %block, i64 -32
  %next = load ptr, ptr %p0
  br label %loop
out:
  ret ptr %block
}}

; bytes from the lowest element to the end of the highest one, and from the lowest to the first; none if there are none
define internal {{i64, i64}} @pb.extent(i64 %rank, i64 %item, ptr %sizes, ptr %steps) nounwind {{
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %next ]
  %above = phi i64 [ %item, %entry ], [ %above1, %next ]
  %below = phi i64 [ 0, %entry ], [ %below1, %next ]
  %done = icmp eq i64 %i, %rank
  br i1 %done, label %out, label %look
look:
  %ps = getelementptr i64, ptr %sizes, i64 %i
  %size = load i64, ptr %ps
  %pt = getelementptr i64, ptr %steps, i64 %i
  %step = load i64, ptr %pt
  %empty = icmp eq i64 %size, 0
  br i1 %empty, label %nothing, label %next
next:
  %last = sub i64 %size, 1
  %reach = mul i64 %last, %step
  %up = call i64 @llvm.smax.i64(i64 %reach, i64 0)
  %down = call i64 @llvm.smin.i64(i64 %reach, i64 0)
  %above1 = add i64 %above, %up
  %below1 = sub i64 %below, %down
  %i1 = add i64 %i, 1
  br label %loop
out:
  %all = add i64 %above, %below
  %r1 = insertvalue {{i64, i64}} poison, i64 %all, 0
  %r2 = insertvalue {{i64, i64}} %r1, i64 %below, 1
  ret {{i64, i64}} %r2
nothing:
  ret {{i64, i64}} zeroinitializer
}}

; is the object exactly this array?  A step matters only along an axis of several elements of an array that has any.
define internal i1 @pb.same(ptr %object, ptr %data, i32 %type, i64 %rank, ptr %sizes, ptr %steps, i1 %empty) nounwind {{
entry:
  %p.data = getelementptr i8, ptr %object, i64 {layout.ARRAY_DATA}
  %data1 = load ptr, ptr %p.data
  %p.rank = getelementptr i8, ptr %object, i64 {layout.ARRAY_RANK}
  %rank1 = load i32, ptr %p.rank
  %rank2 = zext i32 %rank1 to i64
  %p.descr = getelementptr i8, ptr %object, i64 {layout.ARRAY_DESCR}
  %descr = load ptr, ptr %p.descr
  %p.type = getelementptr i8, ptr %descr, i64 {layout.DESCR_TYPE_NUMBER}
  %type1 = load i32, ptr %p.type
  %p.sizes = getelementptr i8, ptr %object, i64 {layout.ARRAY_SIZES}
  %sizes1 = load ptr, ptr %p.sizes
  %p.steps = getelementptr i8, ptr %object, i64 {layout.ARRAY_STRIDES}
  %steps1 = load ptr, ptr %p.steps
  %e1 = icmp eq ptr %data1, %data
  %e2 = icmp eq i64 %rank2, %rank
  %e3 = icmp eq i32 %type1, %type
  %e4 = and i1 %e1, %e2
  %e5 = and i1 %e4, %e3
  br i1 %e5, label %loop, label %no
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %look ]
  %done = icmp eq i64 %i, %rank
  br i1 %done, label %yes, label %look
look:
  %q0 = getelementptr i64, ptr %sizes, i64 %i
  %q1 = getelementptr i64, ptr %sizes1, i64 %i
  %q2 = getelementptr i64, ptr %steps, i64 %i
  %q3 = getelementptr i64, ptr %steps1, i64 %i
  %size = load i64, ptr %q0
  %size1 = load i64, ptr %q1
  %step = load i64, ptr %q2
  %step1 = load i64, ptr %q3
  %f1 = icmp eq i64 %size, %size1
  %f2 = icmp eq i64 %step, %step1
  %f3 = icmp ult i64 %size, 2
  %f6 = or i1 %f3, %empty
  %f4 = or i1 %f2, %f6
  %f5 = and i1 %f1, %f4
  %i1 = add i64 %i, 1
  br i1 %f5, label %loop, label %no
yes:
  ret i1 true
no:
  ret i1 false
}}

; does the memory of the array `object` hold the address?
define internal i1 @pb.inside(ptr %object, i64 %item, ptr %address) nounwind {{
  %p.data = getelementptr i8, ptr %object, i64 {layout.ARRAY_DATA}
  %data = load ptr, ptr %p.data
  %p.rank = getelementptr i8, ptr %object, i64 {layout.ARRAY_RANK}
  %rank = load i32, ptr %p.rank
  %wide = zext i32 %rank to i64
  %p.sizes = getelementptr i8, ptr %object, i64 {layout.ARRAY_SIZES}
  %sizes = load ptr, ptr %p.sizes
  %p.steps = getelementptr i8, ptr %object, i64 {layout.ARRAY_STRIDES}
  %steps = load ptr, ptr %p.steps
  %extent = call {{i64, i64}} @pb.extent(i64 %wide, i64 1, ptr %sizes, ptr %steps)
  %bytes = extractvalue {{i64, i64}} %extent, 0
  %before = extractvalue {{i64, i64}} %extent, 1
  %negative = sub i64 0, %before
  %low = getelementptr i8, ptr %data, i64 %negative
  %high = getelementptr i8, ptr %low, i64 %bytes
  %from = icmp uge ptr %address, %low
  %to = icmp ult ptr %address, %high
  %both = and i1 %from, %to
  ret i1 %both
}}

; a view of memory that `base` keeps alive; takes over the reference to base
define internal ptr @pb.view(ptr %data, i32 %type, i64 %rank, ptr %sizes, ptr %steps, i32 %flags, ptr %base) nounwind {{
  %short = trunc i64 %rank to i32
  %array = call ptr @PyArray_New(ptr @pb.ndarray, i32 %short, ptr %sizes, i32 %type, ptr %steps, ptr %data, i32 0, i32 %flags, ptr null)
  %failed = icmp eq ptr %array, null
  br i1 %failed, label %drop, label %fine
drop:
  call void @Py_DecRef(ptr %base)
  ret ptr null
fine:
  %status = call i32 @PyArray_SetBaseObject(ptr %array, ptr %base)
  %bad = icmp ne i32 %status, 0
  br i1 %bad, label %undo, label %out
undo:
  call void @Py_DecRef(ptr %array)
  ret ptr null
out:
  ret ptr %array
}}

; a capsule that frees the block: one for each block, however many results lie in it.  A new reference.
define internal ptr @pb.keeper(ptr %handed, ptr %block) nounwind {{
entry:
  %count = load i64, ptr %handed
  %pairs = getelementptr i8, ptr %handed, i64 8
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %step ]
  %pair = getelementptr {{ptr, ptr}}, ptr %pairs, i64 %i
  %second = getelementptr i8, ptr %pair, i64 8
  %done = icmp eq i64 %i, %count
  br i1 %done, label %new, label %look
look:
  %known = load ptr, ptr %pair
  %same = icmp eq ptr %known, %block
  br i1 %same, label %old, label %step
step:
  %i1 = add i64 %i, 1
  br label %loop
old:
  %capsule0 = load ptr, ptr %second
  call void @Py_IncRef(ptr %capsule0)
  ret ptr %capsule0
new:
  %capsule = call ptr @PyCapsule_New(ptr %block, ptr @pb.block_name, ptr @pb.block_dropped)
  %failed = icmp eq ptr %capsule, null
  br i1 %failed, label %out, label %note
note:
  store ptr %block, ptr %pair
  store ptr %capsule, ptr %second
  %more = add i64 %count, 1
  store i64 %more, ptr %handed
  %before = load i64, ptr @pb.blocks
  %after = add i64 %before, 1
  store i64 %after, ptr @pb.blocks
  br label %out
out:
  ret ptr %capsule
}}

define ptr @pb.array(ptr %context, ptr %handed, ptr %candidates, i64 %count, ptr %data, i32 %type, i64 %item, i64 %rank, ptr %sizes, ptr %given) nounwind {{
entry:
  %own = alloca [64 x i64]
  %strided = icmp ne ptr %given, null
  br i1 %strided, label %ready, label %fill
fill:
  %j = phi i64 [ %rank, %entry ], [ %j1, %fill.next ]
  %step = phi i64 [ %item, %entry ], [ %step1, %fill.next ]
  %filled = icmp eq i64 %j, 0
  br i1 %filled, label %ready, label %fill.next
fill.next:
  %j1 = sub i64 %j, 1
  %fs = getelementptr i64, ptr %sizes, i64 %j1
  %size = load i64, ptr %fs
  %ft = getelementptr i64, ptr %own, i64 %j1
  store i64 %step, ptr %ft
  %step1 = mul i64 %step, %size
  br label %fill
ready:
  %steps = phi ptr [ %given, %entry ], [ %own, %fill ]
  %extent = call {{i64, i64}} @pb.extent(i64 %rank, i64 %item, ptr %sizes, ptr %steps)
  %bytes = extractvalue {{i64, i64}} %extent, 0
  %empty = icmp eq i64 %bytes, 0
  br label %same
same:
  %i = phi i64 [ 0, %ready ], [ %i1, %same.next ]
  %done = icmp eq i64 %i, %count
  br i1 %done, label %other, label %same.look
same.look:
  %pc = getelementptr ptr, ptr %candidates, i64 %i
  %candidate = load ptr, ptr %pc
  %is = call i1 @pb.same(ptr %candidate, ptr %data, i32 %type, i64 %rank, ptr %sizes, ptr %steps, i1 %empty)
  br i1 %is, label %found, label %same.next
same.next:
  %i1 = add i64 %i, 1
  br label %same
found:
  call void @Py_IncRef(ptr %candidate)
  ret ptr %candidate
other:
  %short = trunc i64 %rank to i32
  br i1 %empty, label %nothing, label %inside
nothing:
  %array0 = call ptr @PyArray_New(ptr @pb.ndarray, i32 %short, ptr %sizes, i32 %type, ptr null, ptr null, i32 0, i32 0, ptr null)
  ret ptr %array0
inside:
  %k = phi i64 [ 0, %other ], [ %k1, %inside.next ]
  %done2 = icmp eq i64 %k, %count
  br i1 %done2, label %native, label %inside.look
inside.look:
  %pd = getelementptr ptr, ptr %candidates, i64 %k
  %owner = load ptr, ptr %pd
  %in = call i1 @pb.inside(ptr %owner, i64 %item, ptr %data)
  br i1 %in, label %part, label %inside.next
inside.next:
  %k1 = add i64 %k, 1
  br label %inside
part:
  %p.flags = getelementptr i8, ptr %owner, i64 {layout.ARRAY_FLAGS}
  %flags = load i32, ptr %p.flags
  %writeable = and i32 %flags, {layout.WRITEABLE}
  call void @Py_IncRef(ptr %owner)
  %array1 = call ptr @pb.view(ptr %data, i32 %type, i64 %rank, ptr %sizes, ptr %steps, i32 %writeable, ptr %owner)
  ret ptr %array1
native:
  %block = call ptr @pb.find(ptr %context, ptr %data)
  %foreign = icmp eq ptr %block, null
  br i1 %foreign, label %copy, label %hand
hand:
  %capsule = call ptr @pb.keeper(ptr %handed, ptr %block)
  %failed = icmp eq ptr %capsule, null
  br i1 %failed, label %bad, label %wrap
wrap:
  %array2 = call ptr @pb.view(ptr %data, i32 %type, i64 %rank, ptr %sizes, ptr %steps, i32 {layout.WRITEABLE}, ptr %capsule)
  ret ptr %array2
copy:
  %array3 = call ptr @PyArray_New(ptr @pb.ndarray, i32 %short, ptr %sizes, i32 %type, ptr %steps, ptr %data, i32 0, i32 0, ptr null)
  %failed3 = icmp eq ptr %array3, null
  br i1 %failed3, label %bad, label %copied
copied:
  %array4 = call ptr @PyArray_NewCopy(ptr %array3, i32 0)
  call void @Py_DecRef(ptr %array3)
  ret ptr %array4
bad:
  ret ptr null
}}

; memory handed to Python leaves the context, the rest is freed
define void @pb.settle(ptr %context, ptr %handed) nounwind {{
entry:
  %none = icmp eq ptr %handed, null
  br i1 %none, label %rest, label %some
some:
  %count = load i64, ptr %handed
  %pairs = getelementptr i8, ptr %handed, i64 8
  br label %loop
loop:
  %i = phi i64 [ 0, %some ], [ %i1, %step ]
  %done = icmp eq i64 %i, %count
  br i1 %done, label %rest, label %step
step:
  %pair = getelementptr {{ptr, ptr}}, ptr %pairs, i64 %i
  %block = load ptr, ptr %pair
  call void @pb.detach(ptr %context, ptr %block)
  %i1 = add i64 %i, 1
  br label %loop
rest:
  call void @pb.free_all(ptr %context)
  ret void
}}
"""


# ------------------------------------------------------------------------------------------- signals, threads, stacks


def system(triple: str) -> str:
    """"windows", "darwin" or "linux" (and what behaves like it)."""
    if "windows" in triple:
        return "windows"
    return "darwin" if "darwin" in triple or "macos" in triple else "linux"


def has_private_stacks(triple: str) -> bool:
    """Whether a recursive program can run on a stack of its own on this system."""
    return system(triple) != "windows" and triple.split("-")[0] in ("x86_64", "aarch64", "arm64")


def _relax(triple: str) -> str:
    if system(triple) == "windows":
        clock = "  %fine = call i32 @QueryPerformanceCounter(ptr %time)\n  %ticks = load i64, ptr %time\n  %now = mul i64 %ticks, 100"
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
@pb.turn = internal global i64 0

define i32 @pb.relax() nounwind noinline {{
  %time = alloca [2 x i64]
  %status = call i32 @PyErr_CheckSignals()
  %bad = icmp ne i32 %status, 0
  br i1 %bad, label %out, label %look
look:
{clock}
  %last = load i64, ptr @pb.turn
  %passed = sub i64 %now, %last
  %due = icmp ugt i64 %passed, {_TURN}
  br i1 %due, label %turn, label %out
turn:
  store i64 %now, ptr @pb.turn
  %thread = call ptr @PyEval_SaveThread()
  call void @PyEval_RestoreThread(ptr %thread)
  br label %out
out:
  ret i32 %status
}}
"""


def _stack_size() -> int:
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


def _stacks(triple: str, size: int) -> str:
    """Private stacks: mapped when first needed, then kept in a list.  The record at the top: next, lowest address, size."""
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


# ------------------------------------------------------------------------------------------------------- the library

_EXTERNAL_DATA = ("pb.MISS", "pb.make_error", "pb.ndarray")
_DECLARATIONS = {
    "pb.miss": "declare ptr @pb.miss(ptr, ptr, i64, ptr, ptr)",
    "Py_IncRef": "declare void @Py_IncRef(ptr)",
    "Py_DecRef": "declare void @Py_DecRef(ptr)",
    "PyLong_FromLongLong": "declare ptr @PyLong_FromLongLong(i64)",
    "PyObject_Vectorcall": "declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)",
    "PyErr_SetObject": "declare void @PyErr_SetObject(ptr, ptr)",
    "PyErr_CheckSignals": "declare i32 @PyErr_CheckSignals()",
    "PyEval_SaveThread": "declare ptr @PyEval_SaveThread()",
    "PyEval_RestoreThread": "declare void @PyEval_RestoreThread(ptr)",
    "PyCapsule_New": "declare ptr @PyCapsule_New(ptr, ptr, ptr)",
    "PyCapsule_GetPointer": "declare ptr @PyCapsule_GetPointer(ptr, ptr)",
    "PyArray_New": "declare ptr @PyArray_New(ptr, i32, ptr, i32, ptr, ptr, i32, i32, ptr)",
    "PyArray_NewCopy": "declare ptr @PyArray_NewCopy(ptr, i32)",
    "PyArray_SetBaseObject": "declare i32 @PyArray_SetBaseObject(ptr, ptr)",
    "clock_gettime": "declare i32 @clock_gettime(i32, ptr)",
    "QueryPerformanceCounter": "declare i32 @QueryPerformanceCounter(ptr)",
    "GetCurrentThreadStackLimits": "declare void @GetCurrentThreadStackLimits(ptr, ptr)",
    "mmap": "declare ptr @mmap(ptr, i64, i32, i32, i32, i64)",
    "mprotect": "declare i32 @mprotect(ptr, i64, i32)",
    "madvise": "declare i32 @madvise(ptr, i64, i32)",
    "llvm.smax.i64": "declare i64 @llvm.smax.i64(i64, i64)",
    "llvm.smin.i64": "declare i64 @llvm.smin.i64(i64, i64)",
    "llvm.memset.p0.i64": "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)",
    "llvm.stacksave.p0": "declare ptr @llvm.stacksave.p0()",
}


def text(triple: str, stack_size: int | None = None) -> str:
    """The module of this library for a system."""
    helpers = memory.runtime(["pb.detach", "pb.release", "pb.free_all", "pb.on_stack"], triple)
    size = _stack_size() if stack_size is None else stack_size
    body = "".join((_CALLS, _fail(), _ARRAY, _relax(triple), _stacks(triple, size), helpers.functions))
    declared = dict(helpers.declarations)
    for name, line in _DECLARATIONS.items():
        if f"@{name}(" in body:
            declared["@" + name] = line
    data = "".join(f"@{name} = external global %pb.opaque\n" for name in _EXTERNAL_DATA)
    head = "\n".join(declared.values())
    return f'%pb.opaque = type opaque\n{data}{head}\n{body}\n!0 = !{{!"branch_weights", i32 1048575, i32 1}}\n'


def imports_of(module: str, known: Mapping[str, int] | None = None) -> dict[str, int]:
    """Addresses of the functions that LLVM text declares, intrinsics left out; `known` ones first."""
    names = re.findall(r'^declare [^@\n]*@"?([\w.$]+)"?\(', module, re.MULTILINE)
    found = dict(known or {})
    for name in names:
        if name not in found and not name.startswith("llvm."):
            found[name] = addresses()[name] if name in _EXPORTS else _address(name)
    return found


def _address(name: str) -> int:
    try:
        return memory.external(name) if name in ("malloc", "calloc", "free") else symbols.address(name)
    except AttributeError:
        return memory.external(name)


@cache
def addresses() -> Mapping[str, int]:
    """Addresses of the functions above.  Loads the library at the first use and connects call objects with it."""
    layout.verify()
    triple = jit.describe_target().triple
    module = text(triple)
    name = store.key("support", module, fingerprint())
    code = store.load(name)
    if code is None:
        code = jit.compile_object(module)
        store.store(name, code)
    objects = {"pb.MISS": id(callobject.MISS), "pb.make_error": id(errors.make_error), "pb.ndarray": id(np.ndarray)}
    library = jit.link(code, imports_of(module, objects), _EXPORTS)
    _kept.append(library)
    callobject.connect(
        vectorcall=library.addresses["pb.vectorcall"],
        bound_miss=library.addresses["pb.bound_miss"],
        call_bound=library.addresses["pb.call_bound"],
    )
    return library.addresses


_kept: list[jit.Library] = []  # arrays given to Python are freed by this code: it stays to the end of the process


def blocks_in_use() -> int:
    """How many blocks of native memory Python's arrays keep alive."""
    return ctypes.c_int64.from_address(addresses()["pb.blocks"]).value
