"""Draws from an urn without putting back, as NumPy makes them: how many of a sample are of each colour.

    hypergeometric(g, 10, 5, 7)        one by one; of large samples by a ratio of uniform numbers
    fill_from_urn(g, rows, colours, n) colour after colour, each from what the ones before have left

Source: E. Stadlober, "The ratio of uniforms approach for generating discrete random variates" (1990), the method HRUA.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pullback.prims.prelude.intrinsics import whole
from pullback.prims.prelude.random_bits import next_double
from pullback.prims.prelude.random_sampling import place_by_mask

__all__ = ["fill_from_urn", "hypergeometric"]

LOG_FACTORIALS = np.array([math.log(math.factorial(k)) for k in range(126)])
HALF_LOG_TWO_PI = 0.9189385332046728
D1, D2 = 1.7155277699214135, 0.8989161620588988  # 2 sqrt(2 / e), 3 - 2 sqrt(3 / e)


def log_factorial(k: Any) -> Any:
    """log(k!), beyond the table by Stirling's series."""
    if k < 126:
        return LOG_FACTORIALS[k]
    x = np.float64(k)
    return (x + 0.5) * np.log(x) - x + (HALF_LOG_TWO_PI + (1.0 / x) * (1.0 / 12.0 - 1.0 / (360.0 * x * x)))


def hypergeometric(g: Any, good: Any, bad: Any, sample: Any) -> Any:
    """How many of a sample are good."""
    if 10 <= sample <= good + bad - 10:
        return by_ratio(g, good, bad, sample)
    return one_by_one(g, good, bad, sample)


def one_by_one(g: Any, good: Any, bad: Any, sample: Any) -> Any:
    total = good + bad
    most_are_taken = sample > total // 2
    to_draw = total - sample if most_are_taken else sample
    left, good_left = total, good
    while to_draw > 0 and 0 < good_left < left:
        left -= 1
        if place_by_mask(g, int(left)) < good_left:
            good_left -= 1
        to_draw -= 1
    if left == good_left:
        good_left -= to_draw
    return good_left if most_are_taken else good - good_left


def log_ways(k: Any, few: Any, many: Any, sample: Any) -> Any:
    """What the chance of k of the rarer colour is divided by, but for a constant factor: its logarithm."""
    first, second = log_factorial(k), log_factorial(few - k)
    return first + second + log_factorial(sample - k) + log_factorial(many - sample + k)


@whole
def by_ratio(g: Any, good: Any, bad: Any, sample: Any) -> Any:
    total, few, many = good + bad, np.minimum(good, bad), np.maximum(good, bad)
    taken = np.minimum(sample, total - sample)
    p, q = few / total, many / total
    a = taken * p + 0.5
    variance = np.float64(total - taken) * taken * p * q / (total - 1)
    c = np.sqrt(variance + 0.5)
    h = D1 * c + D2
    mode = np.int64(np.floor(np.float64(taken + 1) * (few + 1) / (total + 2)))
    least = log_ways(mode, few, many, taken)
    end = np.minimum(np.float64(np.minimum(taken, few) + 1), np.floor(a + 16.0 * c))
    while True:
        u = next_double(g)
        v = next_double(g)
        x = a + h * (v - 0.5) / u
        if x < 0.0 or x >= end:
            continue
        k = np.int64(np.floor(x))
        t = least - log_ways(k, few, many, taken)
        if u * (4.0 - u) - 3.0 <= t:
            break
        if u * (u - t) >= 1.0:
            continue
        if 2.0 * np.log(u) <= t:
            break
    if good > bad:
        k = taken - k
    return good - k if taken < sample else k


def fill_from_urn(g: Any, rows: Any, colors: Any, sample: Any) -> None:
    """Each row: how many of a sample are of each colour.  `rows` are zeros; the smaller part of the urn is drawn."""
    last, total = colors.shape[0] - 1, np.sum(colors)
    if total == 0 or sample == 0:
        return
    most_are_taken = sample > total // 2
    for k in range(rows.shape[0]):
        to_draw, left = total - sample if most_are_taken else sample, total
        for j in range(last):
            if to_draw <= 0:
                break
            left -= colors[j]
            rows[k, j] = hypergeometric(g, colors[j], left, to_draw)
            to_draw -= rows[k, j]
        if to_draw > 0:
            rows[k, last] = to_draw
        if most_are_taken:
            rows[k] = colors - rows[k]
