"""Random order and random choice, as NumPy makes them.

shuffle_rows(g, x)        x[0], x[1], ... in another order, in place: each of the last is exchanged with one before
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pullback.prims.prelude.random_bits import below, next_double, next_half
from pullback.prims.prelude.random_shapes import drawn

__all__ = [
    "checked_chances", "chosen", "chosen_by_chance", "chosen_once", "chosen_once_by_chance", "order_of",
    "shuffle_items", "shuffle_lines", "shuffle_rows",
]  # fmt: skip


def place_up_to(g: Any, most: int) -> int:
    return int(below(g, np.uint64(most)))


def place_by_mask(g: Any, most: int) -> int:
    """A whole number from 0 to `most`: that many bits, drawn anew while they are more."""
    mask = 0
    while mask < most:
        mask = 2 * mask + 1
    if most == 0:
        return 0
    place = int(next_half(g)) & mask
    while place > most:
        place = int(next_half(g)) & mask
    return place


def shuffle_numbers(g: Any, x: Any, first: int = 1) -> None:
    """Elements or items from `first` on, in place, exchanged with one before."""
    for back in range(len(x) - first):
        i = len(x) - 1 - back
        j = place_up_to(g, i)
        x[i], x[j] = x[j], x[i]


def shuffle_items(g: Any, x: Any) -> None:
    """All elements or items, in place; fewer than 2**32."""
    for back in range(len(x) - 1):
        i = len(x) - 1 - back
        j = place_by_mask(g, i)
        x[i], x[j] = x[j], x[i]


def shuffle_rows(g: Any, x: Any) -> None:
    for back in range(x.shape[0] - 1):
        i = x.shape[0] - 1 - back
        j = place_by_mask(g, i)
        if i != j:
            kept = x[j].copy()
            x[j] = x[i]
            x[i] = kept


def shuffle_lines(g: Any, x: Any) -> None:
    """Each line along the last axis, in place."""
    if x.ndim == 1:
        shuffle_items(g, x)
    else:
        for i in range(x.shape[0]):
            shuffle_lines(g, x[i])


def order_of(g: Any, n: int) -> Any:
    """The numbers below n in random order."""
    order = np.arange(n)
    shuffle_items(g, order)
    return order


def chosen(g: Any, n: int, size: Any) -> Any:
    """Of the numbers below n, any of them again and again."""
    most = np.uint64(n - 1)
    if size is None:
        return np.int64(below(g, most))
    out = np.empty(size, np.int64)
    flat = out.reshape(-1)
    for k in range(flat.size):
        flat[k] = np.int64(below(g, most))
    return out


def checked_chances(p: Any, n: int) -> None:
    if p.ndim != 1:
        raise ValueError("p must be 1-dimensional")
    if p.size != n:
        raise ValueError("a and p must have same size")
    if np.any(np.isnan(p)):
        raise ValueError("Probabilities contain NaN")
    if np.any(p < 0):
        raise ValueError("Probabilities are not non-negative")
    if abs(np.sum(p) - 1.0) > 1.4901161193847656e-08:
        raise ValueError("Probabilities do not sum to 1. See Notes section of docstring for more information.")


def cumulated(p: Any) -> Any:
    total = np.cumsum(p)
    return total / total[-1]


def chosen_by_chance(g: Any, p: Any, size: Any) -> Any:
    """Of the numbers below len(p), each as often as its chance says."""
    cumulative = cumulated(p)
    if size is None:
        return np.searchsorted(cumulative, next_double(g), side="right")
    u = drawn(g, size, next_double)
    return np.searchsorted(cumulative, u.reshape(-1), side="right").reshape(u.shape)


def chosen_once(g: Any, n: int, count: int, shuffle: bool) -> Any:
    """`count` of the numbers below n, none of them twice."""
    if n > 10000 and count > n // (50 if shuffle else 20):
        order = np.arange(n)
        shuffle_numbers(g, order, max(n - count, 1))
        return order[n - count :].copy()
    found = sampled(g, n, count)
    if shuffle:
        shuffle_numbers(g, found)
    return found


def sampled(g: Any, n: int, count: int) -> Any:
    """Floyd's way: of the numbers up to j one that is not taken yet, or j; those taken lie in an open hash table."""
    mask = 1
    while mask < int(1.2 * count):
        mask = 2 * mask + 1
    if int(1.2 * count) == 0:
        mask = 0
    taken = np.full(mask + 1, -1)
    found = np.empty(count, np.int64)
    for j in range(n - count, n):
        number = place_up_to(g, j)
        slot = number & mask
        while taken[slot] != -1 and taken[slot] != number:
            slot = (slot + 1) & mask
        if taken[slot] != -1:
            number = j
            slot = j & mask
            while taken[slot] != -1:
                slot = (slot + 1) & mask
        taken[slot] = number
        found[j - n + count] = number
    return found


def chosen_once_by_chance(g: Any, p: Any, count: int) -> Any:
    """Draws by chance, what came before left out, until there are as many."""
    if np.count_nonzero(p > 0) < count:
        raise ValueError("Fewer non-zero entries in p than size")
    left, found, ready = p * 1.0, np.zeros(count, np.int64), 0
    while ready < count:
        u = drawn(g, count - ready, next_double)
        left[found[:ready]] = 0.0
        cumulative = cumulated(left)
        for k in range(u.size):
            number = np.searchsorted(cumulative, u[k], side="right")
            if not is_among(number, found, ready):
                found[ready] = number
                ready += 1
    return found


def is_among(number: Any, found: Any, ready: int) -> bool:
    for k in range(ready):
        if found[k] == number:
            return True
    return False
