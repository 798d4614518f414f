"""Build the hand-written C with gcc, once per source and flags, and load it.

    library = load("loops.c")        # .build/benchmarks/loops-<hash>.so
    library.lorenz_g(...)
"""

import ctypes
import hashlib
import os
import shutil
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCES = HERE / "c"
PRODUCTS = HERE.parent / ".build" / "benchmarks"
STRICT = ("-O3", "-march=native", "-ffp-contract=off", "-shared", "-fPIC")


class BuildError(RuntimeError):
    """The C side cannot be built; the message says what is missing or what the compiler said."""


def compiler() -> str:
    """The C compiler: `CC` if set, else gcc."""
    command = os.environ.get("CC", "gcc")
    if shutil.which(command) is None:
        raise BuildError(f"the C side needs {command}; install it or set CC")
    return command


def compiler_version() -> str:
    """First line of the compiler's own description."""
    return subprocess.run([compiler(), "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]


def load(source: str, flags: tuple[str, ...] = STRICT) -> ctypes.CDLL:
    """The shared library of `benchmarks/c/<source>`; built anew when any C file, a flag or the compiler changed."""
    text = b"".join(path.read_bytes() for path in sorted(SOURCES.glob("*.c")))
    key = hashlib.sha256(text + " ".join((source, *flags, compiler_version())).encode()).hexdigest()[:16]
    product = PRODUCTS / f"{Path(source).stem}-{key}.so"
    if not product.exists():
        PRODUCTS.mkdir(parents=True, exist_ok=True)
        partial = product.with_suffix(f".{os.getpid()}")
        command = [compiler(), *flags, str(SOURCES / source), "-o", str(partial), "-lm"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise BuildError(f"{' '.join(command)}\n{done.stderr}")
        partial.replace(product)
    return ctypes.CDLL(str(product))
