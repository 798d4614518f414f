"""Programs that assign globals of their module; each sets what it reads first, so that it may be run again."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

CASES: dict[str, tuple[Any, tuple[Any, ...]]] = {}

count = 0
total = 0.0
best: Any = None
history: list[Any] = []
table: dict[str, Any] = {}
weights = np.ones(3)
rule: Any = None


def case(*arguments: Any) -> Any:
    """Note a program with the arguments it is run with."""

    def note(function: Any) -> Any:
        CASES[function.__name__] = function, arguments or (1.3,)
        return function

    return note


class Node:
    def __init__(self, value, after):
        self.value = value
        self.after = after


def reset():
    global count, total, history
    count, total, history = 0, 0.0, []


def account(x):
    global count, total
    count += 1
    total = total + x * x
    history.append(x)
    return total * x


@case()
def through_calls(x):
    reset()
    y = account(x)
    y = y + account(x * 2.0)
    return y + count * total


@case()
def in_a_loop(x):
    global total
    total = 0.0
    while total < 10.0:
        total += x
    return total * x


@case()
def as_the_target_of_a_loop(x):
    global count
    for count in range(9):
        x = x * 1.1
        if x > 2.0:
            break
    return x * count


@case()
def unpacked_and_walrus(x):
    global total, count
    (total, count), rest = (x * x, 2), [x, 3.0 * x]
    if (total := total + 1.0) > 2.0:
        count += 1
    return total * count + sum(rest)


@case()
def in_comprehensions(x):
    global total
    values = [total := v * x for v in (1.0, 2.0, 3.0)]
    more = sum((total := total + v) for v in values)
    return more * total


@case()
def removed_and_set_again(x):
    global total
    total = x
    y = total * x
    del total
    try:
        y = y + total
    except NameError:
        total = 2.0 * y
    return total + y


@case()
def by_handlers(x):
    global total, count
    total, count = x, 0
    try:
        total = total * x
        if total > 1.0:
            raise ValueError("large")
        total = 0.0
    except ValueError:
        total = total + 1.0
    finally:
        count += 1
    return total * x + count


@case()
def by_recursion(x):
    global count
    count = 0

    def power(n):
        global count
        count += 1
        return x if n == 0 else x * power(n - 1)

    return power(4) * count


@case()
def an_object_or_none(x):
    global best
    best = None
    for k in range(4):
        value = math.sin(x * k)
        if best is None or best.value < value:
            best = Node(value, best)
    return best.value * x + (0.0 if best.after is None else best.after.value)


@case()
def a_dict(x):
    global table
    table = {}
    for name in ("a", "b", "a"):
        table[name] = table.get(name, 0.0) + x
    return table["a"] * table["b"]


@case()
def an_array_is_replaced_and_written(x):
    global weights
    weights = np.ones(3)
    weights = weights * x
    weights[1] += x
    return weights.sum() * weights[1]


@case()
def a_function(x):
    global rule
    rule = lambda y: y * x  # noqa: E731
    first = rule(2.0)
    if first > 1.0:

        def rule(y):
            return y + x * first

    return rule(first)


@case((1.0, 2.0))
def passed_and_changed(pair):
    global total
    total = pair[0]
    for value in pair:
        total = total * value + count_of(value)
    return total * total


def count_of(value):
    global total
    total = total + value
    return total


def sets_or_reads(x):
    """Not a case: it fails where the global is not set."""
    global rule
    if x > 4.0:
        rule = x
    return rule * x
