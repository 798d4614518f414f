"""LLVM text to machine code in this process.

    text  --parse, verify, optimise, emit-->  object bytes  --link-->  Library(addresses={"pb.entry": 0x7f...})

`compile_object` gives bytes that may be kept on disk; `link` loads them through ORC LLJIT with JITLink.  What the text
declares is imported by address, name by name; only what LLVM calls of its own accord is looked up in the process.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from pullback.codegen import abi
from pullback.codegen.target import describe_target, has_masks, llvm, machine
from pullback.codegen.writer import ONLY_WHERE_ASKED
from pullback.diagnostic import InternalError

__all__ = ["AS_WRITTEN", "Library", "Options", "compile_object", "describe_target", "link"]

# llvmlite objects are not safe to use from several threads at once, and LLVM's own lock is taken per call only.
_lock = threading.RLock()
_serial = itertools.count()


@dataclass(frozen=True, slots=True)
class Options:
    """How hard to optimise.

    Above `large` instructions the vectorisers and the late passes cost more time than they give: their growth dominates
    (1.2 s against 0.16 s at 5000 instructions), so such modules are compiled at level 1 without them; loops that ask
    for it are vectorised in all modules.  `pairs`: make vectors of neighbouring scalars.  Not where a loop adds to one
    element after the other: a vector that is read across elements just written has to wait for them.
    `generate`: the effort of the code generator where it is not `level`.
    """

    level: int = 2
    vectorise: bool = True
    pairs: bool = True
    large: int = 1500
    generate: int | None = None

    def suited(self, text: str) -> Options:
        """The settings for a module."""
        pairs = self.pairs and self.vectorise and abi.ADDS_IN_PLACE not in text
        if instruction_count(text) <= self.large or self.level < 2:
            return replace(self, pairs=pairs)
        return Options(level=1, vectorise=False, pairs=False, large=self.large)


AS_WRITTEN = Options(level=0, vectorise=False, pairs=False, generate=2)
"""For runtime functions whose text is written by hand as it is to run: the first program waits for them.  Only what is
marked `alwaysinline` is inlined."""


@dataclass(frozen=True, slots=True)
class Library:
    """Linked code.  It stays loaded while this object (or the `handle` in it) lives."""

    addresses: Mapping[str, int]
    handle: Any = field(repr=False)


@contextmanager
def _phase(timings: dict[str, float] | None, name: str) -> Iterator[None]:
    start = time.perf_counter()
    yield
    if timings is not None:
        timings[name] = timings.get(name, 0.0) + (time.perf_counter() - start) * 1e3


def instruction_count(text: str) -> int:
    """About how many instructions LLVM text holds: its indented lines."""
    return text.count("\n ")


def compile_object(
    text: str, options: Options = Options(), timings: dict[str, float] | None = None, target: Any = None
) -> bytes:
    """Verified, optimised machine code of a module, as an object file for the host (or for another target machine).

    `timings` receives milliseconds per phase.  Text that LLVM does not accept is an InternalError.
    """
    options = options.suited(text)
    binding = llvm()
    foreign = target is not None and _processor(target.triple) != _processor(describe_target().triple)
    if foreign and " asm sideeffect " in text:
        raise InternalError("inline assembly needs LLVM's assembler for that processor, which is not at hand", text)
    if target is not None or not has_masks():
        text = text.replace(abi.MASKED, abi.UNMASKED)
    if not options.vectorise:
        text = text.replace(*ONLY_WHERE_ASKED)
    with _lock:
        goal = target or machine(min(options.level if options.generate is None else options.generate, 2))
        with _phase(timings, "parse"):
            module = _parse(binding, text, goal)
        with _phase(timings, "optimise"):
            _optimise(binding, module, goal, options)
        with _phase(timings, "emit"):
            code: bytes = goal.emit_object(module)
            return code


def _processor(triple: str) -> str:
    return triple.split("-")[0].replace("arm64", "aarch64")


def _parse(binding: Any, text: str, goal: Any) -> Any:
    try:
        module = binding.parse_assembly(text)
        module.triple = goal.triple
        module.data_layout = str(goal.target_data)
        module.verify()
    except RuntimeError as error:
        raise InternalError(f"LLVM does not accept the generated code: {error}", text) from None
    return module


def _optimise(binding: Any, module: Any, goal: Any, options: Options) -> None:
    tuning = binding.create_pipeline_tuning_options(speed_level=options.level)
    tuning.loop_vectorization = True  # of the loops that do not say otherwise
    tuning.slp_vectorization = options.pairs
    tuning.loop_interleaving = options.vectorise
    tuning.loop_unrolling = options.level > 1
    builder = binding.create_pass_builder(goal, tuning)
    builder.getModulePassManager().run(module, builder)


@cache
def _linker() -> Any:
    return llvm().create_lljit_compiler(machine(2), use_jit_link=True)


def link(
    code: bytes, imports: Mapping[str, int], exports: Sequence[str], timings: dict[str, float] | None = None
) -> Library:
    """Load an object: `imports` are the addresses of what it calls, `exports` the names whose addresses are wanted."""
    with _lock, _phase(timings, "link"):
        builder = llvm().JITLibraryBuilder()
        # What LLVM itself calls (memcpy, memset) is in the process.
        builder.add_object_img(code).add_current_process()
        for name, address in imports.items():
            builder.import_symbol(name, address)
        for name in exports:
            builder.export_symbol(name)
        try:
            handle = builder.link(_linker(), f"pullback.{next(_serial)}")
            return Library({name: handle[name] for name in exports}, handle)
        except RuntimeError as error:
            raise InternalError(f"generated code cannot be linked: {error}") from None
