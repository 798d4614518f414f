"""Axes put in another order, in the accepted Python.

    np.rollaxis(a, 2)     np.transpose(a, [2, 0, 1])

Axes are known while compiling, so that the lists here are of fixed structure: see the package's docstring.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pullback.prims.prelude.intrinsics import axis_of

__all__ = ["FUNCTIONS"]


def rollaxis(a: Any, axis: Any, start: int = 0) -> Any:
    a = np.asarray(a)
    axis = axis_of(axis, a.ndim)
    if start < -a.ndim or start > a.ndim:
        raise ValueError("rollaxis: start is out of bounds")
    place = start + a.ndim if start < 0 else start
    place -= 1 if axis < place else 0
    rest = [k for k in range(a.ndim) if k != axis]
    return np.transpose(a, rest[:place] + [axis] + rest[place:])


FUNCTIONS = {"numpy.rollaxis": rollaxis}
