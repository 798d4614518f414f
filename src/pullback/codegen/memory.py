"""The runtime functions that compiled code calls, as LLVM text: allocation, buffers, polls, stack switch, int powers.

    runtime(["pb.free"], target)   ->   Text of @pb.free, of what it calls, and the C symbols they need

An allocation is 64-byte aligned and has a header of 32 bytes before its first byte: the next and the previous
allocation of the context's list, what malloc returned, and the size.  `pb.detach` takes one off the list (it then
belongs to Python), `pb.release` frees a detached one, `pb.free_all` frees all that are on the list.

Blocks of 64 KiB to 32 MiB that are given back are kept for the next ones of about their size, up to 128 MiB in all:
fresh pages cost more than most kernels that fill them.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterable
from dataclasses import dataclass

from pullback.codegen import abi
from pullback.codegen.elementary_libraries import address

__all__ = ["REFILL", "SIGNATURES", "Runtime", "external", "runtime"]

REFILL = 1 << 20  # fuel after a poll: some milliseconds of work
# Headers, and the lists of malloc, are seen by no other code: to LLVM they are not accessible memory.
_ALLOCATOR = "noinline nounwind memory(argmem: readwrite, inaccessiblemem: readwrite)"

_POOLED_FROM, _POOLED_TO, _POOL_LIMIT = 64 << 10, 32 << 20, 128 << 20
# Size classes: four to each power of two.  The lock is held for a few instructions.
_POOL = f"""
@pb.pool = internal global [128 x ptr] zeroinitializer
@pb.pooled = internal global i64 0
@pb.lock = internal global i32 0

define internal {{i64, i64}} @pb.size_class(i64 %total) nounwind memory(none) {{
  %less = sub i64 %total, 1
  %zeros = call i64 @llvm.ctlz.i64(i64 %less, i1 false)
  %shift = sub i64 61, %zeros
  %unit = shl i64 1, %shift
  %mask = sub i64 %unit, 1
  %up = add i64 %total, %mask
  %parts = lshr i64 %up, %shift
  %rounded = shl i64 %parts, %shift
  %four = shl i64 %shift, 2
  %index = add i64 %four, %parts
  %one = insertvalue {{i64, i64}} poison, i64 %index, 0
  %both = insertvalue {{i64, i64}} %one, i64 %rounded, 1
  ret {{i64, i64}} %both
}}

define internal void @pb.acquire() nounwind {{
entry:
  br label %try
try:
  %held = atomicrmw xchg ptr @pb.lock, i32 1 acquire
  %busy = icmp ne i32 %held, 0
  br i1 %busy, label %try, label %done
done:
  ret void
}}

define internal i1 @pb.is_pooled(i64 %total) nounwind memory(none) {{
  %past = sub i64 %total, {_POOLED_FROM}
  %pooled = icmp ule i64 %past, {_POOLED_TO - _POOLED_FROM}
  ret i1 %pooled
}}

define internal ptr @pb.take(i64 %total, i1 %zeroed) nounwind {{
  %pooled = call i1 @pb.is_pooled(i64 %total)
  br i1 %pooled, label %look, label %fresh
look:
  %class = call {{i64, i64}} @pb.size_class(i64 %total)
  %index = extractvalue {{i64, i64}} %class, 0
  %rounded = extractvalue {{i64, i64}} %class, 1
  %place = getelementptr [128 x ptr], ptr @pb.pool, i64 0, i64 %index
  call void @pb.acquire()
  %found = load ptr, ptr %place
  %none = icmp eq ptr %found, null
  br i1 %none, label %missed, label %hit
hit:
  %next = load ptr, ptr %found
  store ptr %next, ptr %place
  %kept = load i64, ptr @pb.pooled
  %rest = sub i64 %kept, %rounded
  store i64 %rest, ptr @pb.pooled
  store atomic i32 0, ptr @pb.lock release, align 4
  br i1 %zeroed, label %clear, label %done
clear:
  call void @llvm.memset.p0.i64(ptr %found, i8 0, i64 %total, i1 false)
  br label %done
missed:
  store atomic i32 0, ptr @pb.lock release, align 4
  br label %fresh
fresh:
  %size = phi i64 [ %total, %0 ], [ %rounded, %missed ]
  br i1 %zeroed, label %zeros, label %any
zeros:
  %z = call ptr @calloc(i64 1, i64 %size)
  ret ptr %z
any:
  %a = call ptr @malloc(i64 %size)
  ret ptr %a
done:
  ret ptr %found
}}

define internal void @pb.give(ptr %raw, i64 %total) nounwind {{
  %pooled = call i1 @pb.is_pooled(i64 %total)
  br i1 %pooled, label %look, label %release
look:
  %class = call {{i64, i64}} @pb.size_class(i64 %total)
  %index = extractvalue {{i64, i64}} %class, 0
  %rounded = extractvalue {{i64, i64}} %class, 1
  %place = getelementptr [128 x ptr], ptr @pb.pool, i64 0, i64 %index
  call void @pb.acquire()
  %kept = load i64, ptr @pb.pooled
  %sum = add i64 %kept, %rounded
  %fits = icmp ule i64 %sum, {_POOL_LIMIT}
  br i1 %fits, label %keep, label %full
keep:
  store i64 %sum, ptr @pb.pooled
  %next = load ptr, ptr %place
  store ptr %next, ptr %raw
  store ptr %raw, ptr %place
  store atomic i32 0, ptr @pb.lock release, align 4
  ret void
full:
  store atomic i32 0, ptr @pb.lock release, align 4
  br label %release
release:
  call void @free(ptr %raw)
  ret void
}}
"""
_LINK = f"""
define internal ptr @pb.link(ptr %context, ptr %raw, i64 %bytes) nounwind {{
entry:
  %none = icmp eq ptr %raw, null
  br i1 %none, label %out, label %some
some:
  %after = getelementptr i8, ptr %raw, i64 95
  %data = call ptr @llvm.ptrmask.p0.i64(ptr %after, i64 -64)
  %head = getelementptr i8, ptr %context, i64 {abi.LIST}
  %next = load ptr, ptr %head
  %p0 = getelementptr i8, ptr %data, i64 -32
  %p1 = getelementptr i8, ptr %data, i64 -24
  %p2 = getelementptr i8, ptr %data, i64 -16
  %p3 = getelementptr i8, ptr %data, i64 -8
  store ptr %next, ptr %p0
  store ptr null, ptr %p1
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
  %last = icmp eq ptr %next, null
  br i1 %last, label %out, label %back
back:
  %n1 = getelementptr i8, ptr %next, i64 -24
  store ptr %data, ptr %n1
  br label %out
out:
  %result = phi ptr [ null, %entry ], [ %data, %some ], [ %data, %back ]
  ret ptr %result
}}
"""


def _allocator(name: str, zeroed: str) -> str:
    return f"""
define internal noalias ptr @{name}(ptr %context, i64 %bytes) {_ALLOCATOR} {{
  %huge = icmp ugt i64 %bytes, {2**62}
  br i1 %huge, label %none, label %some
some:
  %total = add i64 %bytes, 128
  %raw = call ptr @pb.take(i64 %total, i1 {zeroed})
  %data = call ptr @pb.link(ptr %context, ptr %raw, i64 %bytes)
  ret ptr %data
none:
  ret ptr null
}}
"""


_DETACH = f"""
define internal void @pb.detach(ptr %context, ptr %data) {_ALLOCATOR} {{
entry:
  %none = icmp eq ptr %data, null
  br i1 %none, label %out, label %some
some:
  %p0 = getelementptr i8, ptr %data, i64 -32
  %p1 = getelementptr i8, ptr %data, i64 -24
  %next = load ptr, ptr %p0
  %previous = load ptr, ptr %p1
  %first = icmp eq ptr %previous, null
  %before = getelementptr i8, ptr %previous, i64 -32
  %head = getelementptr i8, ptr %context, i64 {abi.LIST}
  %place = select i1 %first, ptr %head, ptr %before
  store ptr %next, ptr %place
  %last = icmp eq ptr %next, null
  br i1 %last, label %out, label %back
back:
  %n1 = getelementptr i8, ptr %next, i64 -24
  store ptr %previous, ptr %n1
  br label %out
out:
  ret void
}}
"""
_RELEASE = f"""
define internal void @pb.release(ptr %data) {_ALLOCATOR} {{
  %none = icmp eq ptr %data, null
  br i1 %none, label %out, label %some
some:
  %p2 = getelementptr i8, ptr %data, i64 -16
  %raw = load ptr, ptr %p2
  %p3 = getelementptr i8, ptr %data, i64 -8
  %bytes = load i64, ptr %p3
  %total = add i64 %bytes, 128
  call void @pb.give(ptr %raw, i64 %total)
  br label %out
out:
  ret void
}}
"""
_FREE = f"""
define internal void @pb.free(ptr %context, ptr %data) {_ALLOCATOR} {{
  call void @pb.detach(ptr %context, ptr %data)
  call void @pb.release(ptr %data)
  ret void
}}
"""
_FREE_ALL = f"""
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
# Room for `wanted` elements; the old elements are kept.
_RESERVE = f"""
define internal i32 @pb.buffer_reserve(ptr %context, ptr %header, i64 %wanted, i64 %size) noinline nounwind {{
  %place = getelementptr i8, ptr %header, i64 8
  %capacity = load i64, ptr %place
  %enough = icmp sge i64 %capacity, %wanted
  br i1 %enough, label %fine, label %more
more:
  %huge = icmp ugt i64 %wanted, {2**50}
  br i1 %huge, label %bad, label %go
go:
  %bytes = mul i64 %wanted, %size
  %data = call ptr @pb.alloc(ptr %context, i64 %bytes)
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
_GROW = """
define internal i32 @pb.buffer_grow(ptr %context, ptr %header, i64 %index, i64 %size) noinline cold nounwind {
  %place = getelementptr i8, ptr %header, i64 8
  %capacity = load i64, ptr %place
  %double = shl i64 %capacity, 1
  %needed = add i64 %index, 1
  %some = call i64 @llvm.umax.i64(i64 %double, i64 16)
  %wanted = call i64 @llvm.umax.i64(i64 %some, i64 %needed)
  %status = call i32 @pb.buffer_reserve(ptr %context, ptr %header, i64 %wanted, i64 %size)
  ret i32 %status
}
"""
# No CPython call is made on a private stack.  256 bytes below the caller's stack pointer lie past its red zone.
_POLL = f"""
define internal void @pb.check_signals(ptr %result) noinline nounwind {{
  %status = call i32 @PyErr_CheckSignals()
  store i32 %status, ptr %result
  ret void
}}

define internal i32 @pb.poll(ptr %context) cold {_ALLOCATOR} {{
  %result = alloca i32
  %fuel = getelementptr i8, ptr %context, i64 {abi.FUEL}
  store i64 {REFILL}, ptr %fuel
  %place = getelementptr i8, ptr %context, i64 {abi.CALLER_STACK}
  %caller = load ptr, ptr %place
  %here = icmp eq ptr %caller, null
  br i1 %here, label %direct, label %switched
direct:
  call void @pb.check_signals(ptr %result)
  br label %done
switched:
  %below = getelementptr i8, ptr %caller, i64 -256
  %top = call ptr @llvm.ptrmask.p0.i64(ptr %below, i64 -64)
  call void @pb.on_stack(ptr %top, ptr @pb.check_signals, ptr %result)
  br label %done
done:
  %raised = load i32, ptr %result
  %bad = icmp ne i32 %raised, 0
  %status = select i1 %bad, i32 {abi.EXCEPTION}, i32 {abi.FINE}
  ret i32 %status
}}
"""


def _on_stack(body: str) -> str:
    """Call function(argument) with the stack pointer set to `top` (16-byte aligned)."""
    head = "define internal void @pb.on_stack(ptr %top, ptr %function, ptr %argument) noinline"
    return f"\n{head} {{\n{body}  ret void\n}}\n"


def _asm(text: str, constraints: list[str]) -> str:
    clobbers = ",".join(constraints)
    return f'  call void asm sideeffect "{text}", "{clobbers}"(ptr %top, ptr %function, ptr %argument)\n'


def _switch(target: str) -> str:
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


def _power(type_: str) -> str:
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


def _power_overflows(type_: str) -> str:
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


_TEXTS = {
    "pb.pool": _POOL,
    "pb.link": _LINK,
    "pb.alloc": _allocator("pb.alloc", "false"),
    "pb.alloc_zeroed": _allocator("pb.alloc_zeroed", "true"),
    "pb.detach": _DETACH,
    "pb.release": _RELEASE,
    "pb.free": _FREE,
    "pb.free_all": _FREE_ALL,
    "pb.buffer_reserve": _RESERVE,
    "pb.buffer_grow": _GROW,
    "pb.poll": _POLL,
    "pb.ipow.i32": _power("i32"),
    "pb.ipow.i64": _power("i64"),
    "pb.pow_overflows.i32": _power_overflows("i32"),
    "pb.pow_overflows.i64": _power_overflows("i64"),
}
# How modules declare what is called from outside this text.
SIGNATURES = {
    "pb.alloc": f"declare noalias ptr @pb.alloc(ptr, i64) {_ALLOCATOR}",
    "pb.alloc_zeroed": f"declare noalias ptr @pb.alloc_zeroed(ptr, i64) {_ALLOCATOR}",
    "pb.free": f"declare void @pb.free(ptr, ptr) {_ALLOCATOR}",
    "pb.detach": f"declare void @pb.detach(ptr, ptr) {_ALLOCATOR}",
    "pb.release": f"declare void @pb.release(ptr) {_ALLOCATOR}",
    "pb.free_all": "declare void @pb.free_all(ptr) nounwind",
    "pb.buffer_reserve": "declare i32 @pb.buffer_reserve(ptr, ptr, i64, i64) nounwind",
    "pb.buffer_grow": "declare i32 @pb.buffer_grow(ptr, ptr, i64, i64) cold nounwind",
    "pb.poll": f"declare i32 @pb.poll(ptr) cold {_ALLOCATOR}",
    **{
        f"pb.{name}.{t}": f"declare {result or t} @pb.{name}.{t}({t}, {t}) nounwind willreturn memory(none)"
        for name, result in (("ipow", ""), ("pow_overflows", "i1")) for t in ("i32", "i64")
    },
}
# Functions that another's text holds.
_INSIDE = {"pb.check_signals": "pb.poll", **dict.fromkeys(("pb.take", "pb.give"), "pb.pool")}
_DECLARATIONS = {
    "malloc": "declare noalias ptr @malloc(i64) nounwind",
    "calloc": "declare noalias ptr @calloc(i64, i64) nounwind",
    "free": "declare void @free(ptr) nounwind",
    "PyErr_CheckSignals": "declare i32 @PyErr_CheckSignals() nounwind",
    "llvm.ctlz.i64": "declare i64 @llvm.ctlz.i64(i64, i1)",
    "llvm.memset.p0.i64": "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)",
    "llvm.ptrmask.p0.i64": "declare ptr @llvm.ptrmask.p0.i64(ptr, i64)",
    "llvm.memcpy.p0.p0.i64": "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)",
    **{f"llvm.{m}.{t}": f"declare {t} @llvm.{m}.{t}({t}, {t})" for m in ("umax", "smax") for t in ("i32", "i64")},
    **{f"llvm.{m}.{t}": f"declare {{{t}, i1}} @llvm.{m}.{t}({t}, {t})"
       for m in ("smul.with.overflow",) for t in ("i32", "i64")},
}  # fmt: skip
_SYMBOL = re.compile(r"@([\w.]+)")


@dataclass(frozen=True, slots=True)
class Runtime:
    """Text of functions, the declarations they need by symbol (with @), and addresses to import."""

    functions: str
    declarations: dict[str, str]
    externals: dict[str, int]


def runtime(names: Iterable[str], target: str = "", polls: str = "PyErr_CheckSignals") -> Runtime:
    """The named functions and all they call; `target` is an LLVM triple, `polls` the function that polls call."""
    poll = _POLL.replace("@PyErr_CheckSignals", f"@{polls}")
    texts = {**_TEXTS, "pb.poll": poll, "pb.on_stack": _on_stack(_switch(target))}
    waiting, written, declarations = list(names), dict[str, str](), dict[str, str]()
    while waiting:
        name = _INSIDE.get(waiting[-1], waiting[-1])
        waiting.pop()
        if name in written:
            continue
        written[name] = texts[name]
        for symbol in dict.fromkeys(_SYMBOL.findall(texts[name])):
            if symbol in _DECLARATIONS:
                declarations["@" + symbol] = _DECLARATIONS[symbol]
            elif symbol in texts or symbol in _INSIDE:
                waiting.append(symbol)
    externals = {s[1:]: external(s[1:]) for s in declarations if not s.startswith("@llvm.")}
    return Runtime("".join(written.values()), declarations, externals)


def external(name: str) -> int:
    """The address of a function of the C library or of Python in this process."""
    if name.startswith("Py"):
        return ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0
    return address(name)
