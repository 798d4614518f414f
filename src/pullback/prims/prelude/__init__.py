"""Functions of Python, math and NumPy written in the accepted Python itself; compiled on demand like user code.

`FUNCTIONS` maps public names to them.  They may use the helpers of `prelude.intrinsics`.
"""

from __future__ import annotations

from types import FunctionType

from pullback.prims.prelude import arrays, builtin, numbers

__all__ = ["FUNCTIONS"]

FUNCTIONS: dict[str, FunctionType] = {**builtin.FUNCTIONS, **numbers.FUNCTIONS, **arrays.FUNCTIONS}
