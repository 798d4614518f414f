"""The runtime functions that compiled code calls, as native libraries made once and kept on disk.

    address("pb.alloc")       ->  0x7f...        compiles or loads the group "memory" at the first call
    declaration("pb.alloc")   ->  declare noalias ptr @pb.alloc(ptr, i64) ...

A module only declares them, so that a small function is not compiled together with its allocator.  The groups are
"memory" (see `memory`) and one per dtype of matrices (see `matrix`).
"""

from __future__ import annotations

from functools import cache

from pullback.codegen import cache as store
from pullback.codegen import jit, memory
from pullback.codegen.native import BLAS_PREFIX, MATRIX_HELPERS
from pullback.codegen.support_stacks import relax
from pullback.codegen.target import fingerprint
from pullback.runtime import symbols
from pullback.types import DType

__all__ = ["address", "declaration", "external", "group_text", "is_shared"]

# What `relax` calls: it runs signal handlers, and lets other threads have a turn.
_RELAX = {
    "PyErr_CheckSignals": "declare i32 @PyErr_CheckSignals()",
    "PyEval_SaveThread": "declare ptr @PyEval_SaveThread()",
    "PyEval_RestoreThread": "declare void @PyEval_RestoreThread(ptr)",
    "clock_gettime": "declare i32 @clock_gettime(i32, ptr)",
    "QueryPerformanceCounter": "declare i32 @QueryPerformanceCounter(ptr)",
}
# What LLVM calls of its own accord, for copies and fills.
_BY_LLVM = ("memcpy", "memmove", "memset")


def is_shared(name: str) -> bool:
    """Whether a name is that of a runtime function."""
    return name in memory.SIGNATURES or name.startswith(MATRIX_HELPERS)


def declaration(name: str) -> str:
    """The line that declares a runtime function."""
    if name in memory.SIGNATURES:
        return memory.SIGNATURES[name]
    from pullback.codegen import matrix  # not at the top: most code that is kept needs no products

    return matrix.signature(name)


def address(name: str) -> int:
    """The address of a runtime function in this process."""
    group = "memory" if name in memory.SIGNATURES else name.rsplit(".", 1)[1]
    return _group(group)[name]


def external(name: str) -> int:
    """The address of an external name of a module, in this process."""
    return address(name) if is_shared(name) else memory.external(name.removeprefix("pb.c."))


@cache
def _group(group: str) -> dict[str, int]:
    text, exports, imports = group_text(group, jit.describe_target().triple)
    name = store.key("runtime", text, fingerprint())
    code = store.load(name)
    if code is None:
        code = jit.compile_object(text)
        store.store(name, code)
    library = jit.link(code, {symbol: _import(symbol) for symbol in imports}, exports)
    _kept.append(library)
    return dict(library.addresses)


_kept: list[jit.Library] = []  # code stays loaded: memory that Python holds may outlive every call


def _import(name: str) -> int:
    if is_shared(name):
        return address(name)
    if name in _RELAX:
        return symbols.address(name)
    if not name.startswith(BLAS_PREFIX):
        return memory.external(name)
    from pullback.codegen import matrix

    return matrix.blas_address(name)


def group_text(group: str, triple: str) -> tuple[str, list[str], list[str]]:
    """LLVM text of a group, the names it defines for others, and the names it needs."""
    if group == "memory":
        exports = list(memory.SIGNATURES)
        found = memory.runtime(exports, triple, polls="pb.relax")
        text, declared = found.functions + relax(triple), dict(found.declarations)
        declared |= {f"@{name}": line for name, line in _RELAX.items() if f"@{name}(" in text}
    else:
        from pullback.codegen import matrix
        from pullback.codegen.writer import ModuleWriter, Options
        from pullback.ir.node import Program

        module = ModuleWriter(Program(), Options())
        text, exports = matrix.group(module, DType(group))
        declared = {**{f"@{n}": declaration(n) for n in module.helpers if n not in exports}, **module.declarations}
        text += module.metadata()
    text = text.replace("define internal", "define")
    needed = [symbol[1:] for symbol in declared if not symbol.startswith("@llvm.")]
    return "\n".join(declared.values()) + "\n" + text + "\n", exports, [*needed, *_BY_LLVM]
