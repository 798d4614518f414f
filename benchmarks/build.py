"""Build the hand-written C with gcc, once per source and flags, and load it.

library = load("loops.c", STRICT)        # .build/benchmarks/loops-<hash>.so
library.lorenz_g(...)
"""

import ctypes
import hashlib
import importlib.util
import os
import shutil
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCES = HERE / "c"
PRODUCTS = HERE.parent / ".build" / "benchmarks"
# Where wheels keep an OpenBLAS with 32-bit indices whose names start with `scipy_`; the package made for linking first.
BLAS_LIBRARIES = (("scipy_openblas32", "lib"), ("scipy", "../scipy.libs"))


class BuildError(RuntimeError):
    """The C side cannot be built; the message says what is missing or what the compiler said."""


@dataclass(frozen=True, slots=True)
class Build:
    """A way to build C: its name in the table, the flags of the compiler and those of the linker."""

    name: str
    flags: tuple[str, ...]
    link: tuple[str, ...] = ()


STRICT = Build("strict", ("-O3", "-march=native", "-ffp-contract=off"))
FAST = Build("fast", ("-O3", "-march=native", "-ffast-math"))
BUILDS = {build.name: build for build in (STRICT, FAST)}


def compiler() -> str:
    """The C compiler: `CC` if set, else gcc."""
    command = os.environ.get("CC", "gcc")
    if shutil.which(command) is None:
        raise BuildError(f"the C side needs {command}; install it or set CC")
    return command


def compiler_version() -> str:
    """First line of the compiler's own description."""
    return subprocess.run([compiler(), "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]


def blas() -> Path | None:
    """An OpenBLAS that C can be linked with, if one is installed beside SciPy."""
    for package, folder in BLAS_LIBRARIES:
        found = importlib.util.find_spec(package)
        if found is None or not found.submodule_search_locations:
            continue
        place = Path(found.submodule_search_locations[0], folder).resolve()
        for library in sorted(place.glob("libscipy_openblas*.so")):
            if "64_" not in library.name:
                return library
    return None


def with_blas(build: Build, library: Path) -> Build:
    """The same build with matrix products left to OpenBLAS."""
    link = (str(library), f"-Wl,-rpath,{library.parent}")
    return replace(build, name=f"{build.name}+BLAS", flags=(*build.flags, "-DUSE_BLAS"), link=link)


def one_thread_blas(build: Build) -> Build:
    """The build with the OpenBLAS of SciPy, which both sides then share, held to one thread: C has one."""
    library = blas()
    if library is None:
        return build
    ctypes.CDLL(str(library)).scipy_openblas_set_num_threads(1)
    return with_blas(build, library)


def load(source: str, build: Build) -> ctypes.CDLL:
    """The shared library of `benchmarks/c/<source>`; built anew when any C file, a flag or the compiler changed."""
    text = b"".join(path.read_bytes() for path in sorted(SOURCES.glob("*.[ch]")))
    settings = " ".join((source, *build.flags, *build.link, compiler_version()))
    key = hashlib.sha256(text + settings.encode()).hexdigest()[:16]
    product = PRODUCTS / f"{Path(source).stem}-{key}.so"
    if not product.exists():
        PRODUCTS.mkdir(parents=True, exist_ok=True)
        unit, partial = (product.with_suffix(f".{os.getpid()}{suffix}") for suffix in (".o", ".part"))
        _run(compiler(), *build.flags, "-fPIC", "-c", str(SOURCES / source), "-o", str(unit))
        # Linked without -ffast-math, which would add code that flushes subnormals to zero in the whole process.
        _run(compiler(), "-shared", str(unit), "-o", str(partial), *build.link, "-lm")
        unit.unlink()
        partial.replace(product)
    return ctypes.CDLL(str(product))


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BuildError(f"{' '.join(command)}\n{done.stderr}")
