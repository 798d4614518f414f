"""Programs for J whose loops are calls of their bodies: over generators that push, and over iterators with parts."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

__all__ = ["PUSHED"]


def breaks_off(x: float) -> float:
    def endless() -> Iterator[float]:
        y = x
        while True:
            y = y * 1.5
            yield y

    for y in endless():
        if y > 5.0:
            break
    return y


def both_change(x: float) -> float:
    state = [x]

    def steps() -> Iterator[float]:
        for _ in range(3):
            state[0] = state[0] * x
            yield state[0]

    for y in steps():
        state[0] = state[0] + y
    return state[0]


def nested(x: float) -> float:
    state = [x]

    def steps(n: int) -> Iterator[float]:
        for k in range(n):
            state[0] = state[0] * x + k
            yield state[0]

    def twice(n: int) -> Iterator[float]:
        yield from steps(n)
        yield from (x, x * x)

    total = 0.0
    for i, y in enumerate(twice(2)):
        for z in steps(3):
            state[0] += y * 0.25
            if z > 4.0:
                break
            total += z * i
    return total + state[0]


def returns_inside(x: float) -> float:
    def powers() -> Iterator[float]:
        y = x
        while True:
            yield y
            y = y * x

    def first_above(limit: float) -> float:
        total = 0.0
        for y in powers():
            total += y
            if total > limit:
                return y * total
        return 0.0

    return first_above(5.0) + first_above(9.0) * x


def takes_in_turn(x: float) -> float:
    total, kept = 0.0, [x]
    for y in map(lambda a, b: a * b * x, (1.0, 2.0, 3.0), [x, x * x, 1.0]):
        total = total * 0.5 + y
        kept.append(y)
    for y in itertools.chain(kept, (x * x,), [3.0]):
        total = total * 0.5 + y * x
    for y in itertools.repeat(x, 3):
        total = total * y + 1.0
    for a, b in itertools.zip_longest([x, x * x, 2.0], (1.5,), fillvalue=x):
        total += a * b * b
    return total


def reads_what_changes(x: float) -> float:
    state = [x]

    def steps() -> Iterator[int]:
        for k in range(3):
            state[0] = state[0] * x
            yield k

    total = 0.0
    for k in steps():
        total = total + state[0] * (k + 1)
    return total


def writes_what_was_given(x: float) -> Any:
    def powers() -> Iterator[Any]:
        y = np.ones(2) * x
        for _ in range(3):
            y = y * x
            yield y

    total = 0.0
    for y in powers():
        y[0] = y[0] + x
        total = total + y[0] * y[1]
    return total


def zipped_before_a_tuple(x: float) -> float:
    def steps() -> Iterator[float]:
        yield x
        yield x * x

    total = 0.0
    for y, k in zip(steps(), (1.0, 2.0)):
        total += y * k
    return total


def zipped_without_an_end(x: float) -> float:
    def steps() -> Iterator[float]:
        y = x
        while True:
            yield y
            y = y * 1.5

    total = 0.0
    for i, y in zip(range(100), steps()):
        total += y * i
        if total > 5.0:
            break
    return total


def zipped_in_the_middle(x: float) -> Any:
    def steps() -> Iterator[float]:
        for k in range(9):
            yield math.sin(x * k)

    total = 0.0
    for i, y, a in zip(range(4), steps(), np.array([1.0, 2.0, 3.0]) * x):
        total += y * a * (i + 1)
    return total


PUSHED = [
    breaks_off, both_change, nested, returns_inside, takes_in_turn, reads_what_changes, writes_what_was_given,
]  # fmt: skip

ZIPPED = [zipped_before_a_tuple, zipped_without_an_end, zipped_in_the_middle]
