"""What `pullback doctor` says: versions, processor, cache, and whether a small program gives known numbers.

    python      3.12.1 (CPython, 64 bits)
    ...
    self-test   value and gradient of a loop with a branch: right
"""

import math
import platform
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version

import pullback as pb
from pullback.codegen import cache, target

PACKAGES = ("pullback", "numpy", "scipy", "llvmlite")


def probe(x: float) -> float:
    """Four terms, one of them by another branch: sin x + sin(2x)/2 + x^2 + sin(4x)/4."""
    total = 0.0
    for k in range(1, 5):
        if k == 3:
            total += x * x
        else:
            total += math.sin(k * x) / k
    return total


# Value and gradient of `probe` at 1/2: sin x + sin(2x)/2 + x^2 + sin(4x)/4, cos x + cos(2x) + 2x + cos(4x).
EXPECTED = (1.3774853877145717, 2.0017380312113700)


def examine(say: Callable[[str], None]) -> int:
    """Say each line of the report; 0 if the self-test gave the known numbers, else 1."""
    for name, text in _facts():
        say(f"{name:12}{text}")
    fault = self_test()
    say(f"{'self-test':12}value and gradient of a loop with a branch: {fault or 'right'}")
    return int(bool(fault))


def _facts() -> Iterator[tuple[str, str]]:
    bits = 64 if sys.maxsize > 2**32 else 32
    yield "python", f"{platform.python_version()} ({platform.python_implementation()}, {bits} bits, {sys.executable})"
    yield "system", platform.platform()
    for name in PACKAGES:
        yield name, _version(name)
    host = target.describe_target()
    yield "LLVM", host.llvm_version
    yield "processor", f"{host.processor} ({host.triple})"
    yield "features", " ".join(host.features) or "none beyond the processor's base"
    stored = cache.info()
    size = f"{stored.bytes / 1e6:.1f} of {stored.limit / 1e6:.0f} MB"
    yield "cache", f"{stored.directory}: {stored.entries} objects, {size}"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed (used from its source)"


def self_test() -> str:
    """What is wrong with a small compilation, or nothing."""
    try:
        found = pb.value_and_grad(probe)(0.5)
    except Exception as error:
        return f"FAILED with {type(error).__name__}: {error}"
    right = all(math.isclose(a, b, rel_tol=1e-14) for a, b in zip(found, EXPECTED, strict=True))
    return "" if right else f"FAILED: {found} where {EXPECTED} is right"
