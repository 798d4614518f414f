"""The other sides of the comparison: JAX, PyTorch and Numba, each where it is installed (the extra `bench`).

    opponents, notes = available(["jax", "torch"])
    opponents["jax"]("garch")          {"value": <call>, "gradient": <call>}, or {} where it has no such program

One thread each.  A side is the program in the formulation that suits that library best; it gives numbers in the
order of ours; its inputs are its own arrays, made before anything is timed, and its calls wait for their results.
"""

import importlib
import os
from collections.abc import Callable, Sequence

__all__ = ["NAMES", "Sides", "available"]

Sides = Callable[[str], dict[str, Callable[[], object]]]
NAMES = ("jax", "torch", "numba")

# Read when the libraries are imported.
_ONE_THREAD = {
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
    "NPROC": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
    "JAX_PLATFORMS": "cpu",
}


def available(names: Sequence[str]) -> tuple[dict[str, Sides], list[str]]:
    """The sides of the libraries that are installed, and a word about each of the others."""
    os.environ.update(_ONE_THREAD)
    found: dict[str, Sides] = {}
    notes: list[str] = []
    for name in names:
        try:
            found[name] = importlib.import_module(f"opponents.{name}_side").sides
        except ImportError as error:
            notes.append(f"{name} is left out: {error}; pip install '.[bench]'")
    return found, notes
