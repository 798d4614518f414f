"""Functions of Python, math and NumPy written in the accepted Python itself; compiled on demand like user code.

`FUNCTIONS` maps public names to them.  They may use the helpers of `prelude.intrinsics`.
"""

from __future__ import annotations

from types import FunctionType

from pullback.prims.prelude import (
    arrays,
    builtin,
    caches,
    derivatives,
    dicts,
    generators,
    iteration,
    library,
    lists,
    numbers,
    objects,
    sequences,
    sets,
    text,
)

__all__ = ["FUNCTIONS"]

_FAMILIES = (
    builtin, caches, generators, numbers, objects, arrays, lists, dicts, sequences, sets, iteration, library, text,
    derivatives,
)  # fmt: skip

FUNCTIONS: dict[str, FunctionType] = {name: f for family in _FAMILIES for name, f in family.FUNCTIONS.items()}
