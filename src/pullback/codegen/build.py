"""From a typed program and its boundary to an entry that a call object can install.

    build(program, boundary)    ->    Entry(address=0x7f..., from_cache=False, timings={"optimise": 9.4, ...})

The LLVM text is written anew each time, which is cheap; what LLVM makes of it is looked up on disk by its hash first.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from pullback.codegen import abi, cache, jit, shared, support
from pullback.codegen.native import ENTRY, OBJECT_PREFIX
from pullback.codegen.target import fingerprint
from pullback.diagnostic import UNKNOWN, Span
from pullback.ir.node import Program
from pullback.runtime.boundary import Boundary, Place
from pullback.runtime.fixed import Path

if TYPE_CHECKING:
    from pullback.codegen.graphs import Use

__all__ = ["Artifact", "Entry", "Options", "build", "build_module", "is_recursive", "link"]

# Up to so many instructions the compiled function becomes part of its entry, which makes a call some ns faster.  LLVM
# simplifies what it has inlined once more, which is a third of its time.
_INLINED = 300
_WIDE = '"prefer-vector-width"="512"'


@dataclass(frozen=True, slots=True)
class Options:
    """How to generate code: see `codegen.jit.Options` and `codegen.writer.Options`.  `cache`: use the cache on disk."""

    optimise: jit.Options = field(default_factory=jit.Options)
    fastmath: bool = False
    parallel: bool = False
    cache: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Artifact:
    """Machine code and what it must be linked with: functions by name, and the objects behind pb.object.<i>."""

    code: bytes = field(repr=False)
    imports: tuple[str, ...]
    objects: tuple[object, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """Native code of one specialization; it may be called as long as this object lives.

    address: the entry, for `CallObject.install`.  timings: milliseconds per phase.  from_cache: LLVM was not run.
    boundary: None if the entry was loaded without the program (see `manifest`).  places, numbers: its own.
    """

    address: int
    artifact: Artifact
    boundary: Boundary | None = None
    places: tuple[Place, ...] = ()
    timings: Mapping[str, float] = field(default_factory=dict)
    from_cache: bool = False
    library: jit.Library | None = field(default=None, repr=False)
    numbers: tuple[tuple[int, Path, int | None], ...] = ()


def build(program: Program, boundary: Boundary, options: Options = Options()) -> Entry:
    """Generate, compile (or load) and link the code of a typed program whose entry function fits the boundary."""
    from pullback.codegen.emit import emit_program  # not at the top: code that is kept is linked without it
    from pullback.codegen.graphs import uses
    from pullback.codegen.writer import Options as EmitOptions

    start = time.perf_counter()
    module = emit_program(program, EmitOptions(fastmath=options.fastmath, parallel=options.parallel))
    timings = {"emit text": (time.perf_counter() - start) * 1e3}
    core = abi.function_symbol(program.entry)
    span = program.functions[program.entry].span
    return build_module(module, boundary, core, is_recursive(program), span, options, timings, uses(program))


def build_module(
    module: abi.Module,
    boundary: Boundary,
    core: str,
    recursive: bool = False,
    span: Span = UNKNOWN,
    options: Options = Options(),
    timings: dict[str, float] | None = None,
    tables: Mapping[str, Use] = MappingProxyType({}),
) -> Entry:
    """As `build`, from LLVM text: `core` is the symbol of the function that the entry calls."""
    from pullback.codegen.wrapper import wrap

    timings = {} if timings is None else timings
    start = time.perf_counter()
    # The core is inlined into the entry, which must want vectors of the same width.
    attributes = "nounwind " + (_WIDE if _WIDE in module.definitions else "")
    span, triple = _named(span, boundary), jit.describe_target().triple
    gives_up = shared.EXCEEDED in module.externals
    inlined = jit.instruction_count(module.definitions) <= _INLINED
    wrapped = wrap(boundary, core, module.sites, span, recursive, triple, attributes, tables, gives_up, inlined)
    joined = replace(
        module,
        definitions="\n".join((wrapped.before, module.definitions, wrapped.after)),
        declarations={**wrapped.declarations, **module.declarations},
    )
    text = joined.text
    timings["wrap"] = (time.perf_counter() - start) * 1e3
    code, from_cache = _object(text, options, timings)
    names = dict.fromkeys((*support.declared(text), *module.externals))
    artifact = Artifact(code, tuple(names), wrapped.objects)
    entry = link(artifact, timings, module.externals)
    return replace(
        entry, boundary=boundary, places=boundary.places, numbers=boundary.numbers, from_cache=from_cache
    )  # fmt: skip


def link(artifact: Artifact, timings: dict[str, float], externals: Mapping[str, int] | None = None) -> Entry:
    """Load an artifact into this process.  `externals` are addresses that are known already."""
    support.connect()  # so that its loading is not counted here
    start = time.perf_counter()
    known = dict(externals or {})
    imports = {name: known[name] if name in known else _address(name) for name in artifact.imports}
    imports |= {f"{OBJECT_PREFIX}{i}": id(value) for i, value in enumerate(artifact.objects)}
    timings["resolve"] = (time.perf_counter() - start) * 1e3
    library = jit.link(artifact.code, imports, [ENTRY], timings)
    return Entry(library.addresses[ENTRY], artifact, None, (), timings, True, library)


def _address(name: str) -> int:
    """The address of a function that generated code calls: the wrapper's, else the emitter's."""
    if name in support.EXPORTS or name.startswith(("Py", "pb.new.")):
        return support.address(name)
    return shared.external(name)


def _named(span: Span, boundary: Boundary) -> Span:
    return span if span.function else replace(span, function=boundary.name)


def _object(text: str, options: Options, timings: dict[str, float]) -> tuple[bytes, bool]:
    start = time.perf_counter()
    name = cache.key("object", text, fingerprint(), repr(options.optimise))
    code = cache.load(name) if options.cache else None
    timings["look up"] = (time.perf_counter() - start) * 1e3
    if code is not None:
        return code, True
    code = jit.compile_object(text, options.optimise, timings)
    if options.cache:
        cache.store(name, code)
    return code, False


def is_recursive(program: Program) -> bool:
    """Whether functions that the entry reaches call one another in a cycle."""
    calls = {
        name: {str(op.attrs["callee"]) for op in function.body.walk() if op.name == "call"}
        for name, function in program.functions.items()
    }
    finished: set[str] = set()
    path = {program.entry: list(calls.get(program.entry, ()))}  # functions being looked at, with the callees left
    while path:
        current, rest = next(reversed(path.items()))
        if not rest:
            finished.add(current)
            del path[current]
            continue
        callee = rest.pop()
        if callee in path:
            return True
        if callee not in finished:
            path[callee] = list(calls.get(callee, ()))
    return False
