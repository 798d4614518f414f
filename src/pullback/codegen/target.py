"""The machine that code is generated for: LLVM's processor name and features, and target machines.

    describe_target()                      Target(triple='x86_64-unknown-linux-gnu', processor='skylake-avx512', ...)
    machine(level=2)                       an LLVM target machine of this computer, for JITLink (small code model, PIC)
    foreign("aarch64-unknown-linux-gnu")   one of another computer; its objects cannot be run here

llvmlite takes a noticeable time to load: it is imported at the first use.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

__all__ = [
    "Target", "Vectors", "describe_target", "fingerprint", "foreign", "has_masks", "llvm", "machine", "vectors",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Target:
    """What the host's code depends on."""

    llvm_version: str
    llvmlite_version: str
    triple: str
    processor: str
    features: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Vectors:
    """The vector registers: how wide, how many, and whether some lanes alone can be loaded and stored."""

    bytes: int
    count: int
    masks: bool


@cache
def llvm() -> ModuleType:
    """llvmlite's binding, ready to generate code for this computer."""
    import llvmlite.binding as binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    binding.initialize_native_asmparser()
    assert isinstance(binding, ModuleType)
    return binding


@cache
def describe_target() -> Target:
    """The host as LLVM sees it."""
    import llvmlite

    binding = llvm()
    features = binding.get_host_cpu_features()
    return Target(
        llvm_version=".".join(map(str, binding.llvm_version_info)),
        llvmlite_version=llvmlite.__version__,
        triple=binding.get_process_triple(),
        processor=binding.get_host_cpu_name(),
        features=tuple(sorted(name for name, present in features.items() if present)),
    )


@cache
def has_masks() -> bool:
    """Can the host load, compute and store some lanes of a vector as fast as all of them."""
    return not {"avx512vl", "sve"}.isdisjoint(describe_target().features)


@cache
def vectors() -> Vectors:
    """The vector registers of the host."""
    features = describe_target().features
    if "avx512vl" in features:
        return Vectors(64, 32, True)
    if "avx2" in features:
        return Vectors(32, 16, True)
    return Vectors(16, 32 if describe_target().triple.startswith(("aarch64", "arm64")) else 16, False)


@cache
def fingerprint() -> str:
    """Everything about LLVM and the host that an object depends on, as one string."""
    target = describe_target()
    return "|".join((target.llvm_version, target.llvmlite_version, target.triple, target.processor, *target.features))


@cache
def machine(level: int = 2) -> Any:
    """A target machine of the host; `level` is the code generator's effort, 0 to 3."""
    binding = llvm()
    target = binding.Target.from_triple(binding.get_process_triple())
    features = binding.get_host_cpu_features().flatten()
    return target.create_target_machine(
        cpu=binding.get_host_cpu_name(), features=features, opt=level, reloc="pic", codemodel="small"
    )


def foreign(triple: str, processor: str = "", features: str = "", level: int = 2) -> Any:
    """A target machine of another computer, to check that objects for it can be made."""
    binding = llvm()
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    return binding.Target.from_triple(triple).create_target_machine(
        cpu=processor, features=features, opt=level, reloc="pic", codemodel="small"
    )
