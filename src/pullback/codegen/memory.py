"""The runtime functions that compiled code calls, as LLVM text: allocation, buffers, polls, stack switch, int powers.

    runtime(["pb.free"], target)   ->   Text of @pb.free, of what it calls, and the C symbols they need

An allocation is 64-byte aligned and has a header of 40 bytes before its first byte (see `runtime_text`).  It begins
with one owner; `pb.retain` adds one, `pb.free` takes one away and frees with the last.  `pb.detach` takes an allocation
off the context's list (it then belongs to Python), `pb.release` frees a detached one, `pb.free_all` frees all that are
on the list.

Blocks of up to 128 MiB that are given back are kept for the next ones of about their size, up to 128 MiB in all:
fresh pages cost more than most kernels that fill them, and malloc is slow for blocks of some KiB.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Container, Iterable
from dataclasses import dataclass

from pullback.codegen.block_text import POOL
from pullback.codegen.elementary_libraries import address
from pullback.codegen.pool_text import BUMP, FORK, HOLD, LOCKS, STOP, THREADS, pool
from pullback.codegen.pool_text import DECLARATIONS as POOL_DECLARATIONS
from pullback.codegen.runtime_text import (
    ALLOCATOR_ATTRIBUTES,
    COUNT_WORK,
    COUNTERS,
    DETACH,
    FREE,
    FREE_ALL,
    FREE_OWNERS,
    LINK,
    POLL,
    RECORDS,
    REFILL,
    RELEASE,
    RETAIN,
    TABLE_GROW,
    WORK,
    allocator,
    grow,
    on_stack,
    power,
    power_overflows,
    reserve,
    stack_switch,
)  # fmt: skip
from pullback.codegen.streaming import STREAM
from pullback.codegen.support_stacks import advise, relax
from pullback.runtime import symbols, threads

__all__ = ["REFILL", "SIGNATURES", "Runtime", "external", "runtime"]

_TEXTS = {
    "pb.pool": POOL,
    "pb.memory": COUNTERS,
    "pb.threads": THREADS,
    "pb.bump": BUMP,
    "pb.lists": LOCKS,
    "pb.loop.stop": STOP,
    "pb.fork": FORK,
    "pb.hold": HOLD,
    "pb.stream": STREAM,
    "pb.link": LINK,
    "pb.alloc": allocator("pb.alloc", "false"),
    "pb.alloc_zeroed": allocator("pb.alloc_zeroed", "true"),
    "pb.detach": DETACH,
    "pb.release": RELEASE,
    "pb.free": FREE,
    "pb.retain": RETAIN,
    "pb.free_all": FREE_ALL,
    "pb.free_owners": FREE_OWNERS,
    "pb.buffer_reserve": reserve("pb.buffer_reserve", "pb.alloc"),
    "pb.buffer_grow": grow("pb.buffer_grow", "pb.buffer_reserve"),
    "pb.owners_reserve": reserve("pb.owners_reserve", "pb.alloc_zeroed"),
    "pb.owners_grow": grow("pb.owners_grow", "pb.owners_reserve"),
    "pb.table_grow": TABLE_GROW,
    "pb.records": RECORDS,
    "pb.poll": POLL,
    "pb.work": WORK,
    "pb.count_work": COUNT_WORK,
    "pb.ipow.i32": power("i32"),
    "pb.ipow.i64": power("i64"),
    "pb.pow_overflows.i32": power_overflows("i32"),
    "pb.pow_overflows.i64": power_overflows("i64"),
}
KINDS = ("buffer", "owners")
# How modules declare what is called from outside this text.
SIGNATURES = {
    "pb.alloc": f"declare noalias ptr @pb.alloc(ptr, i64) {ALLOCATOR_ATTRIBUTES}",
    "pb.alloc_zeroed": f"declare noalias ptr @pb.alloc_zeroed(ptr, i64) {ALLOCATOR_ATTRIBUTES}",
    "pb.free": f"declare void @pb.free(ptr, ptr) {ALLOCATOR_ATTRIBUTES}",
    "pb.retain": f"declare void @pb.retain(ptr) {ALLOCATOR_ATTRIBUTES}",
    "pb.detach": f"declare void @pb.detach(ptr, ptr) {ALLOCATOR_ATTRIBUTES}",
    "pb.release": f"declare void @pb.release(ptr) {ALLOCATOR_ATTRIBUTES}",
    "pb.free_all": "declare void @pb.free_all(ptr) nounwind",
    "pb.free_owners": f"declare void @pb.free_owners(ptr, ptr, i64, i64) {ALLOCATOR_ATTRIBUTES}",
    **{f"pb.{kind}_reserve": f"declare i32 @pb.{kind}_reserve(ptr, ptr, i64, i64) nounwind" for kind in KINDS},
    **{f"pb.{kind}_grow": f"declare i32 @pb.{kind}_grow(ptr, ptr, i64, i64) cold nounwind" for kind in KINDS},
    "pb.records": "declare noalias ptr @pb.records(ptr, i64) cold nounwind",
    "pb.table_grow": "declare i32 @pb.table_grow(ptr, ptr, i64, i64) cold nounwind",
    "pb.poll": f"declare i32 @pb.poll(ptr) cold {ALLOCATOR_ATTRIBUTES}",
    "pb.hold": "declare void @pb.hold(ptr) nounwind",
    "pb.parallel": "declare i32 @pb.parallel(ptr, ptr, ptr, i64, i1) nounwind",
    "pb.fork": "declare void @pb.fork(i32) nounwind",
    "pb.stream": "declare void @pb.stream(ptr, ptr, i64) nounwind",
    "pb.lock_lists": "declare i1 @pb.lock_lists() nounwind",
    "pb.unlock_lists": "declare void @pb.unlock_lists(i1) nounwind",
    "pb.threads": "@pb.threads = external global i64",
    "pb.loop.stop": "@pb.loop.stop = external global i32",
    "pb.memory": "@pb.memory = external global [4 x i64]",
    "pb.work": "@pb.work = external global [2 x i64]",
    "pb.count_work": "declare void @pb.count_work(i64) nounwind memory(inaccessiblemem: readwrite)",
    **{
        f"pb.{name}.{t}": f"declare {result or t} @pb.{name}.{t}({t}, {t}) nounwind willreturn memory(none)"
        for name, result in (("ipow", ""), ("pow_overflows", "i1")) for t in ("i32", "i64")
    },
}
# Functions that another's text holds.
_INSIDE = {
    "pb.check_signals": "pb.poll",
    **dict.fromkeys(("pb.take", "pb.give", "pb.acquire", "pb.lock", "pb.with_header", "pb.begin"), "pb.pool"),
    **dict.fromkeys(("pb.lock_lists", "pb.unlock_lists"), "pb.lists"), "pb.release_gil": "pb.hold",
}  # fmt: skip
_DECLARATIONS = {
    "malloc": "declare noalias ptr @malloc(i64) nounwind",
    "calloc": "declare noalias ptr @calloc(i64, i64) nounwind",
    "free": "declare void @free(ptr) nounwind",
    "madvise": "declare i32 @madvise(ptr, i64, i32) nounwind",
    "PyErr_CheckSignals": "declare i32 @PyErr_CheckSignals() nounwind",
    "PyEval_SaveThread": "declare ptr @PyEval_SaveThread()",
    "PyEval_RestoreThread": "declare void @PyEval_RestoreThread(ptr)",
    "clock_gettime": "declare i32 @clock_gettime(i32, ptr)",
    "QueryPerformanceCounter": "declare i32 @QueryPerformanceCounter(ptr)",
    **POOL_DECLARATIONS,
    "llvm.ctlz.i64": "declare i64 @llvm.ctlz.i64(i64, i1)",
    "llvm.memset.p0.i64": "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)",
    "llvm.ptrmask.p0.i64": "declare ptr @llvm.ptrmask.p0.i64(ptr, i64)",
    "llvm.memcpy.p0.p0.i64": "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)",
    **{f"llvm.{m}.{t}": f"declare {t} @llvm.{m}.{t}({t}, {t})"
       for m in ("umax", "umin", "smax", "smin") for t in ("i32", "i64")},
    **{f"llvm.{m}.{t}": f"declare {{{t}, i1}} @llvm.{m}.{t}({t}, {t})"
       for m in ("smul.with.overflow",) for t in ("i32", "i64")},
}  # fmt: skip
_WINDOWS = "QueryPerformanceCounter"  # which no other system has
# Variables that Python sets and this code reads.
VARIABLES: dict[str, tuple[str, ctypes.c_int64 | ctypes.Array[ctypes.c_void_p]]] = {
    "pb.threads_wanted": ("i64", threads.WANTED), "pb.blas_threads": ("[2 x ptr]", threads.BLAS),
}  # fmt: skip
_SYMBOL = re.compile(r"@([\w.]+)")


@dataclass(frozen=True, slots=True)
class Runtime:
    """Text of functions, the declarations they need by symbol (with @), and addresses to import."""

    functions: str
    declarations: dict[str, str]
    externals: dict[str, int]


def runtime(names: Iterable[str], target: str = "", elsewhere: Container[str] = ()) -> Runtime:
    """The named functions and all they call; `target` is an LLVM triple.

    elsewhere: functions that are only declared, as another library has them.
    """
    texts = {
        **_TEXTS, "pb.on_stack": on_stack(stack_switch(target)), "pb.relax": relax(target), "pb.parallel": pool(target),
        "pb.advise": advise(target),
    }  # fmt: skip
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
            elif symbol in VARIABLES:
                declarations["@" + symbol] = f"@{symbol} = external global {VARIABLES[symbol][0]}"
            elif symbol in elsewhere:
                declarations["@" + symbol] = SIGNATURES[symbol]
            elif symbol in texts or symbol in _INSIDE:
                waiting.append(symbol)
    outside = (symbol[1:] for symbol in declarations if not symbol.startswith("@llvm."))
    externals = {symbol: external(symbol) for symbol in outside if symbol not in SIGNATURES and symbol != _WINDOWS}
    return Runtime("".join(written.values()), declarations, externals)


def external(name: str) -> int:
    """The address of a function of the C library or of Python, or of a variable of ours, in this process."""
    if name in VARIABLES:
        return ctypes.addressof(VARIABLES[name][1])
    if name == _WINDOWS:
        return symbols.address(name)
    if name.startswith("Py"):
        return ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0
    return address(name)
