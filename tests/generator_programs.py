"""Programs with generators that are kept: advanced by next() and send() from several places, in objects and lists."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

CASES: dict[str, tuple[Any, tuple[Any, ...]]] = {}
FAILING: dict[str, Any] = {}


def case(*arguments: Any) -> Any:
    """Note a program with the arguments it is run with."""

    def note(function: Any) -> Any:
        CASES[function.__name__] = function, arguments or (1.3,)
        return function

    return note


def fails(function: Any) -> Any:
    """Note a program that raises for 1.5."""
    FAILING[function.__name__] = function
    return function


def decay(x, rate):
    while True:
        yield x
        x = x * rate
        for i in range(2):
            yield x + i


def some(n, x):
    for i in range(n):
        if i == 3:
            continue
        if i > 6:
            return
        yield x * i
    else:
        yield x


@case()
def several_calls(x):
    steps = decay(x, 0.9)
    a = next(steps)
    b = next(steps)
    return a * b * next(steps)


@case()
def two_in_a_loop(x):
    first, second, total = decay(x, 0.9), decay(2.0 * x, 0.5), 0.0
    for _ in range(7):
        total += next(first) * next(second)
    return total


def two_of(steps):
    return next(steps) + next(steps)


@case()
def in_a_list(x):
    kept, total = [decay(x, 0.9), decay(x * x, 0.3)], 0.0
    for k in range(5):
        total += two_of(kept[k % 2])
    return total


@case()
def with_a_default(x):
    steps, total = some(4, x), 0.0
    while True:
        value = next(steps, None)
        if value is None:
            break
        total += value * value
    return total + next(steps, x)


@case()
def loops_over_the_rest(x):
    steps = some(10, x)
    total = next(steps) + 2.0 * next(steps)
    for value in steps:
        total = total * 0.5 + value
        if value > 4.0 * x:
            break
    for value in steps:
        total = total * 0.7 + value
    return total + sum(steps)


@case()
def until_it_stops(x):
    steps, total = some(2, x), 0.0
    try:
        while True:
            total = total * x + next(steps)
    except StopIteration:
        total += 7.0 * x
    return total


def averages():
    total, count, mean = 0.0, 0, 0.0
    while True:
        value = yield mean
        total += value
        count += 1
        mean = total / count


@case()
def values_sent(x):
    steps, result = averages(), 0.0
    next(steps)
    for i in range(5):
        result = steps.send(x * i) + result
    return result


def walk(tree):
    if tree is not None:
        yield from walk(tree[0])
        yield tree[1]
        yield from walk(tree[2])


@case()
def two_trees_side_by_side(x):
    left = walk(((None, x, None), 2.0 * x, (None, 3.0, None)))
    right = walk((None, x, ((None, 2.0 * x, None), 3.0, None)))
    total = 0.0
    for value in left:
        total += abs(value - 0.5 * next(right)) * x + value * x
    return total


@case()
def zipped_with_one_without_end(x):
    total = 0.0
    for a, b, c in zip(some(5, x), decay(x, 0.5), (x * i * i for i in range(9))):
        total += a * b + c
    for k, (a, b) in enumerate(zip(decay(x, 0.5), [x, 2.0, 3.0])):
        total += a * b * k
    for (a, b), c in zip(zip(decay(x, 0.5), some(4, x)), decay(x, 0.8)):
        total += a * b * c
    return total


def numbers(seed):
    state = seed
    while True:
        state = (1103515245 * state + 12345) % 2147483648
        yield state / 2147483648


@case()
def monte_carlo(x):
    draws, total = numbers(42), 0.0
    for _ in range(50):
        u, v = next(draws), next(draws)
        total += math.exp(x * u) * v
    return total / 50


class Simulation:
    def __init__(self, x):
        self.source = decay(x, 0.7)
        self.total = 0.0

    def step(self):
        self.total += next(self.source)
        return self.total


@case()
def in_an_object(x):
    simulation = Simulation(x)
    for _ in range(6):
        simulation.step()
    return simulation.total * next(simulation.source)


@dataclass
class Stage:
    gain: float
    source: Any

    def pull(self):
        return next(self.source) * self.gain


@case()
def stored_by_calls(x):
    stages, total = [Stage(x, decay(x, 0.5))], 0.0
    stages.append(Stage(2.0, decay(x * x, 0.7)))
    kept = []
    kept.append(decay(x, 0.8))
    for k in range(6):
        total += stages[k % 2].pull() * next(kept[0])
    return total


@case()
def they_change_one_variable(x):
    def count(n):
        nonlocal total
        for i in range(n):
            total += x * i
            yield total

    total = 0.0
    one, other, result = count(3), count(3), 0.0
    for value in one:
        result += value * next(other)
    return result + total


@case()
def of_an_expression(x):
    squares = (x * i * x for i in range(5))
    a = next(squares)
    b = next(squares)
    return a + b * b + sum(squares)


@case()
def captured_by_a_function(x):
    steps = (x * i for i in range(6))

    def total(n):
        found = 0.0
        for _ in range(n):
            found += next(steps)
        return found * found

    return total(2) + 3.0 * total(3)


@case()
def used_up_in_the_first_trip(x):
    steps, total = (x * i for i in range(4)), 0.0
    for _ in range(3):
        for value in steps:
            total += value
        total *= x
    return total + sum(steps)


@case()
def merged_in_turns(x):
    def merged(left, right):
        a, b = next(left, None), next(right, None)
        while a is not None and b is not None:
            if a < b:
                yield a
                a = next(left, None)
            else:
                yield b
                b = next(right, None)
        while a is not None:
            yield a
            a = next(left, None)
        while b is not None:
            yield b
            b = next(right, None)

    total = 0.0
    for k, value in enumerate(merged((x * i for i in range(4)), (1.0 + 0.4 * i for i in range(3)))):
        total += value * value * (k + 1)
    return total


@case()
def loop_left_inside_a_try(x):
    def steps(n):
        for i in range(n):
            try:
                if i == 5:
                    return
                if i == 1:
                    continue
                inverse = 1.0 / (i - 2)
            except ZeroDivisionError:
                inverse = x
            yield inverse * x

    kept, total = steps(9), 0.0
    total += next(kept)
    for value in kept:
        total = total * x + value
    return total + next(kept, 1.0)


@case()
def roots_by_newton(x):
    def iterates(f, slope, start):
        value = start
        while True:
            yield value
            value = value - f(value) / slope(value)

    steps = iterates(lambda v: v * v * v - x, lambda v: 3.0 * v * v, 1.0)
    before = next(steps)
    now = next(steps)
    while abs(now - before) > 1e-12:
        before, now = now, next(steps)
    return now


@case()
def handed_on_in_a_tuple(x):
    def pair(y):
        return decay(y, 0.5), itertools.count(1)

    steps, count = pair(x)
    total = 0.0
    for _ in range(4):
        total += next(steps) / (1.0 + x)
    return total


@fails
def nothing_is_left(x):
    steps = some(2, x)
    total = 0.0
    for _ in range(9):
        total += next(steps)
    return total


@fails
def what_raised_has_ended(x):
    def steps():
        yield x
        yield 1.0 / (x - 1.5)
        yield x

    kept = steps()
    total = next(kept)
    try:
        total += next(kept)
    except ZeroDivisionError:
        total += 1.0
    return total + next(kept)


@fails
def stops_inside(x):
    def steps(source):
        while True:
            yield next(source) * x

    kept = steps(some(2, x))
    return next(kept) + next(kept) + next(kept) + next(kept)
