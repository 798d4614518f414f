"""The bits behind random numbers: SeedSequence and PCG64 as NumPy has them, in the accepted Python.

    start(g, state_words(pool_of(seed_words(42))))      g in the state of np.random.PCG64(42)
    next_bits(g)         64 bits, what PCG64 gives next      next_half(g)    32 of them, the others kept for later

Sources: M. E. O'Neill, "PCG: a family of simple fast space-efficient statistically good algorithms for random number
generation" (2014), for the generator (XSL-RR, 128 bits of state) and "Developing a seed_seq alternative" (2015) for the
mixing of seeds; D. Lemire, "Fast random integer generation in an interval" (2019), for whole numbers below a bound.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pullback.prims.prelude.intrinsics import high_product, whole

__all__ = [
    "below",
    "child_words",
    "next_bits",
    "next_double",
    "next_half",
    "pool_of",
    "seed_words",
    "start",
    "state_words",
]

LOW_32 = 0xFFFFFFFF
POOL = 4  # words in which the entropy is gathered

# ---------------------------------------------------------------------------------------------------------- seeds


def seed_words(seed: Any) -> Any:
    """The words of 32 bits that a whole number, or each of several, consists of; the lowest first."""
    if isinstance(seed, (int, np.integer)):
        return words_of([seed])
    return words_of(seed)


@whole
def words_of(numbers: Any) -> Any:
    words = np.zeros(2 * len(numbers), np.uint64)
    count = 0
    for number in numbers:
        if number < 0:
            raise ValueError("expected non-negative integer")
        whole = np.uint64(number)
        words[count] = whole & LOW_32
        count += 1
        if whole >> 32 != 0:
            words[count] = whole >> 32
            count += 1
    return words[:count]


def child_words(words: Any, number: int) -> Any:
    """The words of what `spawn` makes as child number so-and-so: its number follows, after the whole pool."""
    kept = max(len(words), POOL)
    longer = np.zeros(kept + 1, np.uint64)
    longer[: len(words)] = words
    longer[kept] = number
    return longer


@whole
def pool_of(words: Any) -> Any:
    """The entropy mixed: every word has a part in each of the pool."""
    pool = np.zeros(POOL, np.uint64)
    factor = np.uint64(0x43B0D7E5)
    for k in range(POOL):
        word = words[k] if k < len(words) else np.uint64(0)
        pool[k], factor = hashed(word, factor)
    for source in range(POOL):
        for target in range(POOL):
            if source != target:
                word, factor = hashed(pool[source], factor)
                pool[target] = mixed(pool[target], word)
    for source in range(POOL, len(words)):
        for target in range(POOL):
            word, factor = hashed(words[source], factor)
            pool[target] = mixed(pool[target], word)
    return pool


def hashed(word: Any, factor: Any) -> Any:
    """A word hashed with a factor, and the next factor."""
    word = word ^ factor
    factor = (factor * 0x931E8875) & LOW_32
    word = (word * factor) & LOW_32
    return word ^ (word >> 16), factor


def mixed(x: Any, y: Any) -> Any:
    """Two words as one; 32 bits of what wraps at 64 are those of what wraps at 32."""
    both = (x * 0xCA01F9DD - y * 0x4973F715) & LOW_32
    return both ^ (both >> 16)


@whole
def state_words(pool: Any) -> Any:
    """Four words of 64 bits made of the pool, for the generator to begin with."""
    words = np.zeros(4, np.uint64)
    factor = np.uint64(0x8B51F9DD)
    for k in range(8):
        word = pool[k % POOL] ^ factor
        factor = (factor * 0x58F38DED) & LOW_32
        word = (word * factor) & LOW_32
        word = word ^ (word >> 16)
        words[k // 2] = words[k // 2] | (word << (32 * (k % 2)))
    return words


# ---------------------------------------------------------------------------------------------------------- PCG64

MULTIPLIER_HIGH, MULTIPLIER_LOW = 0x2360ED051FC65DA4, 0x4385DF649FCCF645


def step(g: Any) -> None:
    """state = state * multiplier + increment, modulo 2**128."""
    low = g.low * MULTIPLIER_LOW
    high = g.high * MULTIPLIER_LOW + g.low * MULTIPLIER_HIGH + high_product(g.low, np.uint64(MULTIPLIER_LOW))
    total = low + g.add_low
    g.high = high + g.add_high + np.uint64(total < low)
    g.low = total


@whole
def start(g: Any, words: Any) -> None:
    """The state that PCG64 begins with."""
    g.add_high = (words[2] << 1) | (words[3] >> 63)
    g.add_low = (words[3] << 1) | 1
    g.high, g.low = np.uint64(0), np.uint64(0)
    step(g)
    total = g.low + words[1]
    g.high = g.high + words[0] + np.uint64(total < words[1])
    g.low = total
    step(g)
    g.half, g.has_half = np.uint64(0), False


def next_bits(g: Any) -> Any:
    """64 bits."""
    step(g)
    word, turn = g.high ^ g.low, g.high >> 58
    return (word >> turn) | (word << ((64 - turn) & 63))


def next_half(g: Any) -> Any:
    """32 bits: the lower ones of 64, then the upper ones."""
    if g.has_half:
        g.has_half = False
        return g.half
    word = next_bits(g)
    g.half, g.has_half = word >> 32, True
    return word & LOW_32


def next_double(g: Any) -> Any:
    """A number of [0, 1) of 53 bits."""
    return np.float64(next_bits(g) >> 11) * (1.0 / 9007199254740992.0)


def below(g: Any, most: Any) -> Any:
    """A whole number from 0 to `most`, all alike: the high word of a product, some low words left out."""
    if most == 0:
        return np.uint64(0)
    if most < LOW_32:
        return below_32(g, most + 1)
    if most == LOW_32:
        return next_half(g)
    if most + 1 == 0:
        return next_bits(g)
    return below_64(g, most + 1)


def below_32(g: Any, bound: Any) -> Any:
    product = next_half(g) * bound
    rest = product & LOW_32
    if rest < bound:
        least = (LOW_32 - (bound - 1)) % bound
        while rest < least:
            product = next_half(g) * bound
            rest = product & LOW_32
    return product >> 32


def below_64(g: Any, bound: Any) -> Any:
    word = next_bits(g)
    rest = word * bound
    if rest < bound:
        least = (np.uint64(0) - bound) % bound
        while rest < least:
            word = next_bits(g)
            rest = word * bound
    return high_product(word, bound)
