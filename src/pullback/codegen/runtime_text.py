"""LLVM text of the runtime functions: see `memory`, which puts them together.

    LINK    header, and the context's list        DETACH    off the list: it belongs to Python

The header of an allocation lies before its first byte: at -40 how many owners it has, -32 the next one of the list, -24
the address of the pointer to this one (in the context, or at -32 of the one before), -16 what malloc returned, -8 the
size.
"""

from __future__ import annotations

from pullback.codegen import abi

__all__ = [
    "ALLOCATOR_ATTRIBUTES", "BYTES", "COUNT", "COUNTERS", "COUNT_WORK", "DETACH", "FREE", "FREE_ALL", "FREE_OWNERS",
    "LINK", "LIVE", "PEAK", "POLL", "RECORDS", "REFILL", "RELEASE", "RETAIN", "TABLE_GROW", "WORK",
    "allocator", "grow", "on_stack", "power", "power_overflows", "reserve", "stack_switch",
]  # fmt: skip

REFILL = 1 << 20  # fuel after a poll: some milliseconds of work
# Headers, and the lists of malloc, are seen by no other code: to LLVM they are not accessible memory.
ALLOCATOR_ATTRIBUTES = "noinline nounwind memory(argmem: readwrite, inaccessiblemem: readwrite)"

# Process-wide counts, all i64: of memory (byte offsets in pb.memory) and of work (in pb.work, see `abi`).
BYTES, COUNT, LIVE, PEAK = 0, 8, 16, 24
COUNTERS = "@pb.memory = global [4 x i64] zeroinitializer\n"
WORK = "@pb.work = global [2 x i64] zeroinitializer\n"
COUNT_WORK = """
define internal void @pb.count_work(i64 %offset) nounwind {
  %cell = getelementptr i8, ptr @pb.work, i64 %offset
  call void @pb.bump(ptr %cell, i64 1)
  ret void
}
"""


def _add(name: str, offset: int, amount: str) -> str:
    """Text that adds to a count of memory."""
    return f"""\
  %{name} = getelementptr i8, ptr @pb.memory, i64 {offset}
  call void @pb.bump(ptr %{name}, i64 {amount})
"""


LINK = f"""
define internal ptr @pb.link(ptr %context, ptr %raw, i64 %bytes) alwaysinline nounwind {{
entry:
  %none = icmp eq ptr %raw, null
  br i1 %none, label %out, label %some
some:
  %locked = call i1 @pb.lock_lists()
  %numbers = getelementptr i8, ptr @pb.memory, i64 {COUNT}
  %before = load atomic i64, ptr %numbers monotonic, align 8
  %data = call ptr @pb.begin(ptr %raw, i64 %bytes, i64 %before)
  %head = getelementptr i8, ptr %context, i64 {abi.LIST}
  %next = load ptr, ptr %head
  %owners = getelementptr i8, ptr %data, i64 -40
  %p0 = getelementptr i8, ptr %data, i64 -32
  %p1 = getelementptr i8, ptr %data, i64 -24
  %p2 = getelementptr i8, ptr %data, i64 -16
  %p3 = getelementptr i8, ptr %data, i64 -8
  store i64 1, ptr %owners
  store ptr %next, ptr %p0
  store ptr %head, ptr %p1
  store ptr %raw, ptr %p2
  store i64 %bytes, ptr %p3
  store ptr %data, ptr %head
  %sum = getelementptr i8, ptr %context, i64 {abi.ALLOCATED}
  %sum0 = load i64, ptr %sum
  %sum1 = add i64 %sum0, %bytes
  store i64 %sum1, ptr %sum
  %count = getelementptr i8, ptr %context, i64 {abi.ALLOCATIONS}
  %count0 = load i64, ptr %count
  %count1 = add i64 %count0, 1
  store i64 %count1, ptr %count
{_add("total", BYTES, "%bytes")}{_add("number", COUNT, "1")}{_add("live", LIVE, "%bytes")}\
  %now = load i64, ptr %live
  %peak = getelementptr i8, ptr @pb.memory, i64 {PEAK}
  %peak0 = load i64, ptr %peak
  %peak1 = call i64 @llvm.smax.i64(i64 %peak0, i64 %now)
  store i64 %peak1, ptr %peak
  %last = icmp eq ptr %next, null
  br i1 %last, label %linked, label %back
back:
  %n1 = getelementptr i8, ptr %next, i64 -24
  store ptr %p0, ptr %n1
  br label %linked
linked:
  call void @pb.unlock_lists(i1 %locked)
  br label %out
out:
  %result = phi ptr [ null, %entry ], [ %data, %linked ]
  ret ptr %result
}}
"""


def allocator(name: str, zeroed: str) -> str:
    """An allocation function; `zeroed` is an LLVM bool."""
    return f"""
define internal noalias ptr @{name}(ptr %context, i64 %bytes) {ALLOCATOR_ATTRIBUTES} {{
  %huge = icmp ugt i64 %bytes, {2**62}
  br i1 %huge, label %none, label %some
some:
  %total = call i64 @pb.with_header(i64 %bytes)
  %raw = call ptr @pb.take(i64 %total, i1 {zeroed})
  %data = call ptr @pb.link(ptr %context, ptr %raw, i64 %bytes)
  ret ptr %data
none:
  ret ptr null
}}
"""


DETACH = f"""
define internal void @pb.detach(ptr %context, ptr %data) {ALLOCATOR_ATTRIBUTES} {{
entry:
  %none = icmp eq ptr %data, null
  br i1 %none, label %out, label %some
some:
  %locked = call i1 @pb.lock_lists()
  %p0 = getelementptr i8, ptr %data, i64 -32
  %p1 = getelementptr i8, ptr %data, i64 -24
  %next = load ptr, ptr %p0
  %place = load ptr, ptr %p1
  store ptr %next, ptr %place
  %last = icmp eq ptr %next, null
  br i1 %last, label %cut, label %back
back:
  %n1 = getelementptr i8, ptr %next, i64 -24
  store ptr %place, ptr %n1
  br label %cut
cut:
  call void @pb.unlock_lists(i1 %locked)
  br label %out
out:
  ret void
}}
"""
RELEASE = f"""
define internal void @pb.release(ptr %data) {ALLOCATOR_ATTRIBUTES} {{
  %none = icmp eq ptr %data, null
  br i1 %none, label %out, label %some
some:
  %p2 = getelementptr i8, ptr %data, i64 -16
  %raw = load ptr, ptr %p2
  %p3 = getelementptr i8, ptr %data, i64 -8
  %bytes = load i64, ptr %p3
  %less = sub i64 0, %bytes
{_add("live", LIVE, "%less")}\
  %total = call i64 @pb.with_header(i64 %bytes)
  call void @pb.give(ptr %raw, i64 %total)
  br label %out
out:
  ret void
}}
"""
# One owner less; the last one frees.  Null owns nothing.
FREE = f"""
define internal void @pb.free(ptr %context, ptr %data) {ALLOCATOR_ATTRIBUTES} {{
entry:
  %none = icmp eq ptr %data, null
  br i1 %none, label %out, label %some
some:
  %place = getelementptr i8, ptr %data, i64 -40
  %others = load atomic i64, ptr @pb.threads monotonic, align 8
  %alone = icmp eq i64 %others, 0
  br i1 %alone, label %plain, label %shared
plain:
  %owners = load i64, ptr %place
  %rest0 = sub i64 %owners, 1
  store i64 %rest0, ptr %place
  br label %both
shared:
  %before = atomicrmw sub ptr %place, i64 1 acq_rel
  %rest1 = sub i64 %before, 1
  br label %both
both:
  %rest = phi i64 [ %rest0, %plain ], [ %rest1, %shared ]
  %last = icmp eq i64 %rest, 0
  br i1 %last, label %drop, label %out
drop:
  call void @pb.detach(ptr %context, ptr %data)
  call void @pb.release(ptr %data)
  br label %out
out:
  ret void
}}
"""
RETAIN = f"""
define internal void @pb.retain(ptr %data) {ALLOCATOR_ATTRIBUTES} {{
  %none = icmp eq ptr %data, null
  br i1 %none, label %out, label %some
some:
  %place = getelementptr i8, ptr %data, i64 -40
  call void @pb.bump(ptr %place, i64 1)
  br label %out
out:
  ret void
}}
"""
FREE_ALL = f"""
define internal void @pb.free_all(ptr %context) noinline nounwind {{
entry:
  %head = getelementptr i8, ptr %context, i64 {abi.LIST}
  %first = load ptr, ptr %head
  store ptr null, ptr %head
  br label %loop
loop:
  %data = phi ptr [ %first, %entry ], [ %next, %some ]
  %none = icmp eq ptr %data, null
  br i1 %none, label %out, label %some
some:
  %p0 = getelementptr i8, ptr %data, i64 -32
  %next = load ptr, ptr %p0
  call void @pb.release(ptr %data)
  br label %loop
out:
  ret void
}}
"""


def reserve(name: str, allocate: str) -> str:
    """Room for `wanted` elements; the old elements are kept."""
    return f"""
define internal i32 @{name}(ptr %context, ptr %header, i64 %wanted, i64 %size) noinline nounwind {{
  %place = getelementptr i8, ptr %header, i64 8
  %capacity = load i64, ptr %place
  %enough = icmp sge i64 %capacity, %wanted
  br i1 %enough, label %fine, label %more
more:
  %huge = icmp ugt i64 %wanted, {2**50}
  br i1 %huge, label %bad, label %go
go:
  %bytes = mul i64 %wanted, %size
  %data = call ptr @{allocate}(ptr %context, i64 %bytes)
  %none = icmp eq ptr %data, null
  br i1 %none, label %bad, label %copy
copy:
  %old = load ptr, ptr %header
  %used = mul i64 %capacity, %size
  call void @llvm.memcpy.p0.p0.i64(ptr %data, ptr %old, i64 %used, i1 false)
  call void @pb.free(ptr %context, ptr %old)
  store ptr %data, ptr %header
  store i64 %wanted, ptr %place
  br label %fine
fine:
  ret i32 {abi.FINE}
bad:
  ret i32 {abi.NO_MEMORY}
}}
"""


def grow(name: str, reserving: str) -> str:
    """Room for the element at an index past the capacity."""
    return f"""
define internal i32 @{name}(ptr %context, ptr %header, i64 %index, i64 %size) noinline cold nounwind {{
  %place = getelementptr i8, ptr %header, i64 8
  %capacity = load i64, ptr %place
  %double = shl i64 %capacity, 1
  %needed = add i64 %index, 1
  %some = call i64 @llvm.umax.i64(i64 %double, i64 16)
  %wanted = call i64 @llvm.umax.i64(i64 %some, i64 %needed)
  %status = call i32 @{reserving}(ptr %context, ptr %header, i64 %wanted, i64 %size)
  ret i32 %status
}}
"""


# Room for a record of some bytes and for those after it, in chunks that double up to a bound; the record's address.
_FIRST_CHUNK, _LARGEST_CHUNK = 2048, 1 << 26
RECORDS = f"""
define internal ptr @pb.records(ptr %context, i64 %size) noinline cold nounwind {{
entry:
  %place = getelementptr i8, ptr %context, i64 {abi.CHUNK}
  %last = load i64, ptr %place
  %double = shl i64 %last, 1
  %some = call i64 @llvm.umax.i64(i64 %double, i64 {_FIRST_CHUNK})
  %few = call i64 @llvm.umin.i64(i64 %some, i64 {_LARGEST_CHUNK})
  %chunk = call i64 @llvm.umax.i64(i64 %few, i64 %size)
  %data = call ptr @pb.alloc(ptr %context, i64 %chunk)
  %none = icmp eq ptr %data, null
  br i1 %none, label %out, label %some_room
some_room:
  store i64 %chunk, ptr %place
  %next = getelementptr i8, ptr %data, i64 %size
  %end = getelementptr i8, ptr %data, i64 %chunk
  %room = getelementptr i8, ptr %context, i64 {abi.ROOM}
  %rest = getelementptr i8, ptr %context, i64 {abi.ROOM_END}
  store ptr %next, ptr %room
  store ptr %end, ptr %rest
  br label %out
out:
  ret ptr %data
}}
"""


# Room for `wanted` rows of a table, at least twice what there was; rows past the length are zero.
TABLE_GROW = f"""
define internal i32 @pb.table_grow(ptr %context, ptr %header, i64 %wanted, i64 %size) noinline cold nounwind {{
entry:
  %huge = icmp ugt i64 %wanted, {2**50}
  br i1 %huge, label %bad, label %go
go:
  %place = getelementptr i8, ptr %header, i64 8
  %capacity = load i64, ptr %place
  %double = shl i64 %capacity, 1
  %some = call i64 @llvm.umax.i64(i64 %double, i64 16)
  %room = call i64 @llvm.umax.i64(i64 %some, i64 %wanted)
  %bytes = mul i64 %room, %size
  %data = call ptr @pb.alloc_zeroed(ptr %context, i64 %bytes)
  %none = icmp eq ptr %data, null
  br i1 %none, label %bad, label %copy
copy:
  %old = load ptr, ptr %header
  %end = getelementptr i8, ptr %header, i64 16
  %length = load i64, ptr %end
  %used = mul i64 %length, %size
  call void @llvm.memcpy.p0.p0.i64(ptr %data, ptr %old, i64 %used, i1 false)
  call void @pb.free(ptr %context, ptr %old)
  store ptr %data, ptr %header
  store i64 %room, ptr %place
  ret i32 {abi.FINE}
bad:
  ret i32 {abi.NO_MEMORY}
}}
"""


# One owner less for each of `count` owners that lie `step` bytes apart; those that were never put are null.
FREE_OWNERS = f"""
define internal void @pb.free_owners(ptr %context, ptr %data, i64 %count, i64 %stride) {ALLOCATOR_ATTRIBUTES} {{
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %step ]
  %done = icmp sge i64 %i, %count
  br i1 %done, label %out, label %step
step:
  %away = mul i64 %i, %stride
  %place = getelementptr i8, ptr %data, i64 %away
  %owned = load ptr, ptr %place
  call void @pb.free(ptr %context, ptr %owned)
  %i1 = add i64 %i, 1
  br label %loop
out:
  ret void
}}
"""
# No CPython call is made on a private stack.  256 bytes below the caller's stack pointer lie past its red zone.  A
# worker thread of a parallel loop has nothing to do with Python; it only looks whether the loop has been stopped.
POLL = f"""
define internal void @pb.check_signals(ptr %record) noinline nounwind {{
  %context = load ptr, ptr %record
  %status = call i32 @pb.relax(ptr %context)
  %result = getelementptr i8, ptr %record, i64 8
  store i32 %status, ptr %result
  ret void
}}

define internal i32 @pb.poll(ptr %context) cold {ALLOCATOR_ATTRIBUTES} {{
  %record = alloca [2 x i64], align 16
  %fuel = getelementptr i8, ptr %context, i64 {abi.FUEL}
  store i64 {REFILL}, ptr %fuel
  %region = getelementptr i8, ptr %context, i64 {abi.REGION}
  %part = load i64, ptr %region
  %worker = icmp eq i64 %part, 2
  br i1 %worker, label %look, label %ask
look:
  %stopped = load atomic i32, ptr @pb.loop.stop monotonic, align 4
  %stop = icmp ne i32 %stopped, 0
  %quit = select i1 %stop, i32 {abi.EXCEPTION}, i32 {abi.FINE}
  ret i32 %quit
ask:
  store ptr %context, ptr %record
  %result = getelementptr i8, ptr %record, i64 8
  %place = getelementptr i8, ptr %context, i64 {abi.CALLER_STACK}
  %caller = load ptr, ptr %place
  %here = icmp eq ptr %caller, null
  br i1 %here, label %direct, label %switched
direct:
  call void @pb.check_signals(ptr %record)
  br label %done
switched:
  %below = getelementptr i8, ptr %caller, i64 -256
  %top = call ptr @llvm.ptrmask.p0.i64(ptr %below, i64 -64)
  call void @pb.on_stack(ptr %top, ptr @pb.check_signals, ptr %record)
  br label %done
done:
  %raised = load i32, ptr %result
  %bad = icmp ne i32 %raised, 0
  %status = select i1 %bad, i32 {abi.EXCEPTION}, i32 {abi.FINE}
  ret i32 %status
}}
"""


def on_stack(body: str) -> str:
    """Call function(argument) with the stack pointer set to `top` (16-byte aligned)."""
    head = "define internal void @pb.on_stack(ptr %top, ptr %function, ptr %argument) noinline"
    return f"\n{head} {{\n{body}  ret void\n}}\n"


def _asm(text: str, constraints: list[str]) -> str:
    clobbers = ",".join(constraints)
    return f'  call void asm sideeffect "{text}", "{clobbers}"(ptr %top, ptr %function, ptr %argument)\n'


def stack_switch(target: str) -> str:
    """The stack switch of a system; where there is none (Windows, unknown targets) `pb.on_stack` just calls."""
    architecture = target.split("-")[0]
    if architecture == "x86_64" and "windows" not in target:
        registers = ["rbx", "rdx", "rsi", "r8", "r9", "r10", "r11", *(f"xmm{i}" for i in range(16)), "memory", "cc",
                     "dirflag", "fpsr", "flags"]  # fmt: skip
        text = "movq %rsp, %rbx\\0Amovq $0, %rsp\\0Acallq *$1\\0Amovq %rbx, %rsp"
        return _asm(text, ["{rax}", "{rcx}", "{rdi}", *(f"~{{{r}}}" for r in registers)])
    if architecture in ("aarch64", "arm64") and "windows" not in target:
        registers = ["x19", *(f"x{i}" for i in range(1, 8)), *(f"x{i}" for i in range(10, 18)), "lr",
                     *(f"v{i}" for i in range(32)), "memory", "cc"]  # fmt: skip
        text = "mov x19, sp\\0Amov sp, $0\\0Ablr $1\\0Amov sp, x19"
        return _asm(text, ["{x8}", "{x9}", "{x0}", *(f"~{{{r}}}" for r in registers)])
    return "  call void %function(ptr %argument)\n"


def power(type_: str) -> str:
    """x ** n by squaring, wrapping; n below 0 counts as 0."""
    return f"""
define internal {type_} @pb.ipow.{type_}({type_} %x, {type_} %n) noinline nounwind willreturn memory(none) {{
entry:
  %start = call {type_} @llvm.smax.{type_}({type_} %n, {type_} 0)
  br label %loop
loop:
  %rest = phi {type_} [ %start, %entry ], [ %rest1, %step ]
  %base = phi {type_} [ %x, %entry ], [ %base1, %step ]
  %power = phi {type_} [ 1, %entry ], [ %power1, %step ]
  %done = icmp eq {type_} %rest, 0
  br i1 %done, label %out, label %step
step:
  %low = trunc {type_} %rest to i1
  %product = mul {type_} %power, %base
  %power1 = select i1 %low, {type_} %product, {type_} %power
  %base1 = mul {type_} %base, %base
  %rest1 = lshr {type_} %rest, 1
  br label %loop
out:
  ret {type_} %power
}}
"""


def power_overflows(type_: str) -> str:
    """A square that leaves the range matters if it is used, and the highest bit of n uses the last one."""
    pair = f"{{{type_}, i1}}"
    return f"""
define internal i1 @pb.pow_overflows.{type_}({type_} %x, {type_} %n) noinline nounwind willreturn memory(none) {{
entry:
  %start = call {type_} @llvm.smax.{type_}({type_} %n, {type_} 0)
  br label %loop
loop:
  %rest = phi {type_} [ %start, %entry ], [ %rest1, %step ]
  %base = phi {type_} [ %x, %entry ], [ %base1, %step ]
  %lost = phi i1 [ false, %entry ], [ %lost2, %step ]
  %power = phi {type_} [ 1, %entry ], [ %power1, %step ]
  %over = phi i1 [ false, %entry ], [ %over2, %step ]
  %done = icmp eq {type_} %rest, 0
  br i1 %done, label %out, label %step
step:
  %low = trunc {type_} %rest to i1
  %p = call {pair} @llvm.smul.with.overflow.{type_}({type_} %power, {type_} %base)
  %product = extractvalue {pair} %p, 0
  %wraps = extractvalue {pair} %p, 1
  %either = or i1 %wraps, %lost
  %now = and i1 %either, %low
  %over2 = or i1 %over, %now
  %power1 = select i1 %low, {type_} %product, {type_} %power
  %s = call {pair} @llvm.smul.with.overflow.{type_}({type_} %base, {type_} %base)
  %base1 = extractvalue {pair} %s, 0
  %lost1 = extractvalue {pair} %s, 1
  %lost2 = or i1 %lost, %lost1
  %rest1 = lshr {type_} %rest, 1
  br label %loop
out:
  ret i1 %over
}}
"""
