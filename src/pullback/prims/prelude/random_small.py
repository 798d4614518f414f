"""Whole numbers of few bits, as NumPy draws them for short dtypes: several from each 32 bits, within one call.

between(g, (4,), 0, 9, 8)        four numbers from 0 to 9, of 8 bits each
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pullback.prims.prelude.random_bits import next_half
from pullback.prims.prelude.random_shapes import flat_of, item_of

__all__ = ["between"]


def between(g: Any, shape: Any, first: Any, last: Any, bits: int) -> Any:
    out = np.empty(() if shape is None else shape, np.int64)
    fill(g, out.reshape(-1), flat_of(first, out), flat_of(last, out), bits)
    return out


def fill(g: Any, flat: Any, first: Any, last: Any, bits: int) -> None:
    """Lemire's way with words of few bits; of one bit it is the word itself."""
    mask = 2**bits - 1
    kept, left = np.uint64(0), 0
    for k in range(flat.size):
        low = item_of(first, k)
        most = np.uint64(item_of(last, k) - low)
        if most == 0:
            flat[k] = low
            continue
        kept, left = next_word(g, kept, left, bits)
        word = kept & mask
        if most != mask:
            bound = most + 1
            least = (mask - most) % bound
            while (word * bound) & mask < least:
                kept, left = next_word(g, kept, left, bits)
                word = kept & mask
            word = (word * bound) >> bits
        flat[k] = low + np.int64(word)


def next_word(g: Any, kept: Any, left: int, bits: int) -> Any:
    """The next word at the lower end, and how many are left above it."""
    if left == 0:
        return next_half(g), 32 // bits - 1
    return kept >> bits, left - 1
