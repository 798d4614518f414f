"""The native library that all compiled functions share, made once and never unloaded.

    pb.vectorcall      a call object's entry: begins its chain of specializations
    pb.call_bound      a builtin for Python: runs the chain on arguments in the order of the parameters
    pb.bound_miss      the end of that chain: gives back MISS
    pb.fail            raises the exception of a status
    pb.graph_enter     objects and their rows: see `support_graphs`
    pb.text_call       strings: see `support_texts`
    pb.array           a NumPy array for a result, without a copy
    pb.whole           the structured array of the caller that a result is
    pb.settle          unlinks the memory handed to Python and frees the rest
    pb.stack_take      a private stack for a recursive program; pb.stack_give returns it

An entry is `ptr (ptr self, ptr args, i64 count, ptr names, ptr cursor)`: a vectorcall with a cursor into the chain, an
array of entries that ends in a miss.  An entry that does not apply to its arguments calls the next one, so entries are
immutable and may be shared by any number of call objects.  Everything here runs with the GIL held.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Mapping
from functools import cache

import numpy as np

from pullback.codegen import abi, jit, memory, shared
from pullback.codegen import cache as store
from pullback.codegen.support_arrays import ARRAYS
from pullback.codegen.support_counts import COUNTS
from pullback.codegen.support_graphs import GRAPHS
from pullback.codegen.support_holding import HOLDING
from pullback.codegen.support_stacks import stack_size, stacks
from pullback.codegen.support_texts import TEXTS
from pullback.codegen.target import fingerprint
from pullback.runtime import callobject, errors, layout, symbols, texts

__all__ = ["BOUND", "EXPORTS", "PARTS", "address", "blocks_in_use", "connect", "declared", "text"]

BOUND = 1 << 62
"""Set in the count of arguments by pb.call_bound: they are all the parameters, keyword-only ones too."""

PARTS = {
    "calls": ("pb.vectorcall", "pb.call_bound", "pb.bound_miss", "pb.fail", "pb.array", "pb.whole",
              "pb.settle", "pb.blocks", "pb.text_call"),
    "graphs": ("pb.graph_enter", "pb.graph_meet", "pb.graph_knows", "pb.graph_place", "pb.graph_keep", "pb.graph_push",
               "pb.graph_pop", "pb.graph_text", "pb.set_place", "pb.graph_drop", "pb.image_dropped"),
    "stacks": ("pb.stack_take", "pb.stack_give", "pb.switch", "pb.stack_limit"),
}  # fmt: skip
"""What each part of the library exports.  All programs need the first; the others are compiled for the first program
that does, as it waits for them."""
EXPORTS = {name: part for part, names in PARTS.items() for name in names}

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
    lines = ["  %site = load i64, ptr %context\n  %wide = sext i32 %status to i64"]
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


# ------------------------------------------------------------------------------------------------------- the library

_EXTERNAL_DATA = ("pb.MISS", "pb.make_error", "pb.ndarray", "pb.new_texts", "pb.text_dispatch", "pb.keep_text")
_DECLARATIONS = {
    "pb.miss": "declare ptr @pb.miss(ptr, ptr, i64, ptr, ptr)",
    "Py_IncRef": "declare void @Py_IncRef(ptr)",
    "Py_DecRef": "declare void @Py_DecRef(ptr)",
    "PyLong_FromLongLong": "declare ptr @PyLong_FromLongLong(i64)",
    "PyLong_AsLongLong": "declare i64 @PyLong_AsLongLong(ptr)",
    "PyUnicode_FromStringAndSize": "declare ptr @PyUnicode_FromStringAndSize(ptr, i64)",
    "PyObject_Vectorcall": "declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)",
    "PyErr_SetObject": "declare void @PyErr_SetObject(ptr, ptr)",
    "PyErr_Clear": "declare void @PyErr_Clear()",
    "PyErr_CheckSignals": "declare i32 @PyErr_CheckSignals()",
    "PyEval_SaveThread": "declare ptr @PyEval_SaveThread()",
    "PyEval_RestoreThread": "declare void @PyEval_RestoreThread(ptr)",
    "PyMem_RawFree": "declare void @PyMem_RawFree(ptr)",
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
    "llvm.memcpy.p0.p0.i64": "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)",
    "llvm.prefetch.p0": "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)",
    "llvm.ptrmask.p0.i64": "declare ptr @llvm.ptrmask.p0.i64(ptr, i64)",
    "llvm.stacksave.p0": "declare ptr @llvm.stacksave.p0()",
}


def text(part: str, triple: str, size: int | None = None) -> str:
    """The module of a part of this library for a system."""
    match part:
        case "calls":
            body = "".join((_CALLS, _fail(), ARRAYS, TEXTS))
        case "graphs":
            body = "".join((COUNTS, GRAPHS, HOLDING))
        case _:
            body = stacks(triple, size or stack_size())
    if "@pb.on_stack(" in body:
        body += memory.runtime(["pb.on_stack"], triple).functions
    allocation = ("pb.alloc", "pb.alloc_zeroed", "pb.detach", "pb.release", "pb.free_all", "pb.hold")
    lines = {name: shared.declaration(name) for name in allocation} | _DECLARATIONS
    declared = {"@" + name: line for name, line in lines.items() if f"@{name}(" in body}
    data = "".join(f"@{name} = external global %pb.opaque\n" for name in _EXTERNAL_DATA)
    head = "\n".join(declared.values())
    return f'%pb.opaque = type opaque\n{data}{head}\n{body}\n!0 = !{{!"branch_weights", i32 1048575, i32 1}}\n'


def declared(module: str) -> list[str]:
    """Names of the functions that LLVM text declares, intrinsics left out."""
    names = re.findall(r'^declare [^@\n]*@"?([\w.$]+)"?\(', module, re.MULTILINE)
    return [name for name in names if not name.startswith("llvm.")]


def address(name: str) -> int:
    """The address of a function of this library, of CPython, NumPy or the C library."""
    if name in EXPORTS:
        return _library(EXPORTS[name])[name]
    return shared.address(name) if shared.is_shared(name) else symbols.address(name)


@cache
def connect() -> None:
    """Load what every call needs, and tell call objects of it.  Does nothing at the second use."""
    layout.verify()
    callobject.connect(
        vectorcall=address("pb.vectorcall"), bound_miss=address("pb.bound_miss"), call_bound=address("pb.call_bound")
    )


@cache
def _library(part: str) -> Mapping[str, int]:
    """Addresses of the functions of a part, which is loaded or compiled at the first use."""
    module = text(part, jit.describe_target().triple)
    name = store.key("support", module, fingerprint())
    code = store.load(name)
    if code is None:
        code = jit.compile_object(module, jit.AS_WRITTEN)
        store.store(name, code)
    imports = {"pb.MISS": id(callobject.MISS), "pb.make_error": id(errors.make_error), "pb.ndarray": id(np.ndarray)}
    imports |= {"pb.new_texts": id(texts.new_texts), "pb.text_dispatch": id(texts.dispatch)}
    imports["pb.keep_text"] = id(texts.Texts.keep)
    imports |= {symbol: address(symbol) for symbol in declared(module)}
    library = jit.link(code, imports, PARTS[part])
    _kept.append(library)
    return library.addresses


_kept: list[jit.Library] = []  # arrays given to Python are freed by this code: it stays to the end of the process


def blocks_in_use() -> int:
    """How many blocks of native memory Python's arrays keep alive."""
    return ctypes.c_int64.from_address(address("pb.blocks")).value
