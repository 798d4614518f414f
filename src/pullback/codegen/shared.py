"""The runtime functions that compiled code calls, as native libraries made once and kept on disk.

    address("pb.alloc")       ->  0x7f...        compiles or loads the group "memory" at the first call
    declaration("pb.alloc")   ->  declare noalias ptr @pb.alloc(ptr, i64) ...

A module only declares them, so that a small function is not compiled together with its allocator.  The groups are
"memory", "growth", "powers" and "pool" (see `memory`) and two per dtype of matrices (see `matrix`, `blocks`): what no
program has used yet is not compiled, as the first program waits for it.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import re
from functools import cache

from pullback.codegen import blas_threads, jit, memory, scipy_blas
from pullback.codegen import cache as store
from pullback.codegen.native import BLAS_PREFIX, BLOCKS, GEMV, MATRIX_HELPERS
from pullback.codegen.target import fingerprint
from pullback.runtime import budget
from pullback.types import DType

__all__ = ["BUDGET", "EXCEEDED", "address", "declaration", "external", "group_text", "is_shared"]

BUDGET, EXCEEDED = "pb.budget", "pb.exceeded"  # variables of `runtime.budget`
_CELLS = {BUDGET: budget.WANTED, EXCEEDED: budget.EXCEEDED}
# Functions that few programs need; the rest of `memory` is the group "memory".
_GROUPS = {
    **dict.fromkeys(("pb.ipow.i32", "pb.ipow.i64", "pb.pow_overflows.i32", "pb.pow_overflows.i64"), "powers"),
    **{f"pb.{kind}_{what}": "growth" for kind in memory.KINDS for what in ("reserve", "grow")},
    **dict.fromkeys(("pb.table_grow", "pb.records", "pb.free_owners"), "growth"),
    **dict.fromkeys(("pb.parallel", "pb.stream"), "pool"),
}
_PLAIN = frozenset({"memory", *_GROUPS.values()})
_INTERNAL = re.compile(r"define internal (?P<rest>[^@\n]*@(?P<name>[\w.]+)\()")
# What LLVM calls of its own accord, for copies and fills.
_BY_LLVM = ("memcpy", "memmove", "memset")


def is_shared(name: str) -> bool:
    """Whether a name is that of a runtime function."""
    return name in memory.SIGNATURES or name.startswith(MATRIX_HELPERS)


def declaration(name: str) -> str:
    """The line that declares a runtime function."""
    if name in memory.SIGNATURES:
        return memory.SIGNATURES[name]
    if name in _CELLS:
        return f"@{name} = external global i64"
    from pullback.codegen import matrix  # not at the top: most code that is kept needs no products

    return matrix.signature(name)


def address(name: str) -> int:
    """The address of a runtime function in this process."""
    return _group(_group_of(name))[name]


def _group_of(name: str) -> str:
    if name in memory.SIGNATURES:
        return _GROUPS.get(name, "memory")
    dtype = name.rsplit(".", 1)[1]
    return BLOCKS + dtype if name.startswith((BLOCKS, GEMV)) else dtype


def external(name: str) -> int:
    """The address of an external name of a module, in this process."""
    if name in _CELLS:
        return ctypes.addressof(_CELLS[name])
    if name.startswith(BLAS_PREFIX):
        return _import(name)
    return address(name) if is_shared(name) else memory.external(name.removeprefix("pb.c."))


@cache
def _group(group: str) -> dict[str, int]:
    code, exports, imports = _object(group)
    library = jit.link(code, {symbol: _import(symbol) for symbol in imports}, exports)
    _kept.append(library)
    if group == "memory":
        _guard_forks(library.addresses["pb.fork"])
    return dict(library.addresses)


def _object(group: str) -> tuple[bytes, list[str], list[str]]:
    """Machine code of a group, with the names it defines and needs.  Where it is kept its text is not even written."""
    name = store.key("runtime", group, store.compiler_fingerprint(), fingerprint())
    data = store.load(name)
    if data is not None:
        kept: tuple[bytes, list[str], list[str]] = pickle.loads(data)
        return kept
    text, exports, imports = group_text(group, jit.describe_target().triple)
    written = group in _PLAIN or group.startswith(BLOCKS) or group in ("f32", "f64")
    code = jit.compile_object(text, jit.AS_WRITTEN if written else jit.Options())
    store.store(name, pickle.dumps((code, exports, imports)))
    return code, exports, imports


def _guard_forks(address: int) -> None:
    """A fork finds all locks free: the child has no other thread that could give one back."""
    if not hasattr(os, "register_at_fork"):
        return
    around = ctypes.PYFUNCTYPE(None, ctypes.c_int)(address)
    os.register_at_fork(
        before=lambda: around(0), after_in_parent=lambda: around(1), after_in_child=lambda: around(2)
    )  # fmt: skip


_kept: list[jit.Library] = []  # code stays loaded: memory that Python holds may outlive every call


def _import(name: str) -> int:
    if is_shared(name):
        return address(name)
    if not name.startswith(BLAS_PREFIX):
        return memory.external(name)
    blas_threads.connect()
    return scipy_blas.address(name.removeprefix(BLAS_PREFIX))


def group_text(group: str, triple: str) -> tuple[str, list[str], list[str]]:
    """LLVM text of a group, the names it defines for others, and the names it needs."""
    if group in ("memory", "growth", "powers", "pool"):
        exports = [name for name in memory.SIGNATURES if _group_of(name) == group]
        elsewhere = memory.SIGNATURES.keys() - exports
        found = memory.runtime(exports, triple, elsewhere=elsewhere)
        text, declared = found.functions, dict(found.declarations)
    else:
        from pullback.codegen import blocks, matrix
        from pullback.codegen.writer import ModuleWriter, Options
        from pullback.ir.node import Program

        module = ModuleWriter(Program(), Options())
        kind, _, dtype = group.rpartition(".")
        text, exports = (blocks if kind else matrix).group(module, DType(dtype))
        declared = {**{f"@{n}": declaration(n) for n in module.helpers if n not in exports}, **module.declarations}
        text += module.metadata()
    text = _INTERNAL.sub(lambda line: line[0] if line["name"] not in exports else f"define {line['rest']}", text)
    needed = [symbol[1:] for symbol in declared if not symbol.startswith("@llvm.")]
    return "\n".join(declared.values()) + "\n" + text + "\n", exports, [*needed, *_BY_LLVM]
