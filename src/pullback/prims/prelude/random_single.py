"""Numbers of single precision, drawn as NumPy draws them for dtype=np.float32: of 32 bits each.

standard_normal(g)       a float32, by the ziggurat with tables of 24 bits
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pullback.prims.prelude.intrinsics import whole
from pullback.prims.prelude.random_bits import next_half
from pullback.prims.prelude.random_tables import (
    EXPONENTIAL_END,
    EXPONENTIAL_HEIGHT_32,
    EXPONENTIAL_INSIDE_32,
    EXPONENTIAL_WIDTH_32,
    NORMAL_END,
    NORMAL_HEIGHT_32,
    NORMAL_INSIDE_32,
    NORMAL_WIDTH_32,
)

__all__ = ["next_single", "standard_exponential", "standard_normal"]


def next_single(g: Any) -> Any:
    """A number of [0, 1) of 24 bits."""
    return np.float32(next_half(g) >> 8) * np.float32(1.0 / 16777216.0)


def standard_normal(g: Any) -> Any:
    while True:
        bits = next_half(g)
        layer = np.int64(bits & 0xFF)
        number = np.float32((bits >> 9) & 0x007FFFFF)
        x = number * NORMAL_WIDTH_32[layer]
        if bits & 0x100 != 0:
            x = -x
        if number < NORMAL_INSIDE_32[layer]:
            return x
        if layer == 0:
            return normal_tail(g, (bits >> 17) & 1 != 0)
        low, high = NORMAL_HEIGHT_32[layer], NORMAL_HEIGHT_32[layer - 1]
        exponent = -0.5 * np.float64(x) * np.float64(x)
        if np.float64((high - low) * next_single(g) + low) < np.exp(exponent):
            return x


@whole
def normal_tail(g: Any, negative: bool) -> Any:
    end = np.float32(NORMAL_END)
    while True:
        x = np.float32(-0.27366123732975827203338247596) * np.log1p(-next_single(g))
        y = -np.log1p(-next_single(g))
        if y + y > x * x:
            return -(end + x) if negative else end + x


def standard_exponential(g: Any) -> Any:
    while True:
        bits = next_half(g) >> 1
        layer = np.int64(bits & 0xFF)
        number = np.float32(bits >> 8)
        x = number * EXPONENTIAL_WIDTH_32[layer]
        if number < EXPONENTIAL_INSIDE_32[layer]:
            return x
        if layer == 0:
            return np.float32(EXPONENTIAL_END) - np.log1p(-next_single(g))
        low, high = EXPONENTIAL_HEIGHT_32[layer], EXPONENTIAL_HEIGHT_32[layer - 1]
        if (high - low) * next_single(g) + low < np.exp(-x):
            return x
