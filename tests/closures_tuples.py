"""Programs for J with tuples that hold tuples of their own making, to any depth: f(x) -> float.

Such tuples are rows of heaps (`pullback.infer.nested_tuples`), so what they keep has its sensitivity in twins.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

TUPLES: dict[str, tuple[Callable[..., Any], Callable[[], tuple[Any, ...]], tuple[int, ...]]] = {}
DEPTH = 4


def into(function: Callable[..., Any]) -> Callable[..., Any]:
    TUPLES[function.__name__] = (function, lambda: (0.7, DEPTH), (0,))
    return function


@into
def tree_of_tuples(x, depth):
    def build(d):
        return (x * d, build(d - 1), build(d - 1)) if d > 0 else None

    def total(tree):
        if tree is None:
            return x
        value, left, right = tree
        return value * total(left) + total(right)

    return total(build(depth))


@into
def linked_tuples(x, n):
    head = None
    for i in range(n):
        head = (x * (i + 1), head)
    total = x
    while head is not None:
        value, head = head
        total = total * 0.5 + value * value
    return total


@into
def numbers_in_leaves(x, depth):
    def build(d):
        return (build(d - 1), x * d, build(d - 1)) if d else x * 0.5

    def fold(tree):
        if isinstance(tree, tuple):
            left, value, right = tree
            return fold(left) * value + math.sin(fold(right))
        return tree * tree

    return fold(build(depth))


@into
def tuples_by_index(x, depth):
    def build(d):
        return (build(d - 1), x * d) if d else None

    tree, total = build(depth), 0.0
    while tree:
        total += tree[1] ** 2 * x
        tree = tree[0]
    return total


@into
def tuples_by_match(x, depth):
    def build(d):
        return (x * d, build(d - 1)) if d else ()

    def fold(tree):
        match tree:
            case ():
                return x
            case (value, rest):
                return value * fold(rest) + value

    return fold(build(depth))


@into
def tuples_of_two_kinds(x, depth):
    def even(d):
        return ("e", x * d, odd(d - 1)) if d else None

    def odd(d):
        return ("o", x + d, x * x, even(d - 1)) if d else None

    def fold(tree):
        if tree is None:
            return 1.0
        if len(tree) == 3:
            return tree[1] * fold(tree[2])
        return tree[1] * tree[2] + fold(tree[3])

    return fold(even(depth))


@into
def tuples_with_arrays(x, depth):
    def build(d):
        return (np.array([x, x * d, 1.0]), build(d - 1)) if d else None

    tree, total = build(depth), np.zeros(3)
    while tree is not None:
        a, tree = tree
        total = total * x + a
    return np.sum(total * total)


@into
def tuples_with_written_arrays(x, n):
    tree = None
    for i in range(n):
        a = np.array([x, x * i, 1.0])
        a[2] = x * x
        tree = (a, tree)
    total = 0.0
    while tree is not None:
        a, tree = tree
        a[0] *= a[1]
        total = total * x + np.sum(a)
    return total


@into
def tuples_with_functions(x, depth):
    def build(d):
        return (lambda y: y * x * d, build(d - 1)) if d else None

    tree, y = build(depth), x
    while tree is not None:
        function, tree = tree
        y = math.sin(function(y))
    return y


@into
def lists_of_children(x, depth):
    def build(d):
        return (x * d, [build(d - 1) for _ in range(2)]) if d else (x, [])

    def fold(tree):
        value, children = tree
        total = value
        for child in children:
            total = total * 0.5 + value * fold(child)
        return total

    return fold(build(depth - 1))


@into
def tuples_of_children(x, depth):
    def build(d):
        return (x * d, tuple(build(d - 1) for _ in range(2))) if d else (x, ())

    def fold(tree):
        value, children = tree
        total = value
        for child in children:
            total = total * 0.5 + value * fold(child)
        return total

    return fold(build(depth - 1))


@into
def tuples_mapped(x, depth):
    def build(d):
        return (x * d, build(d - 1), build(d - 1)) if d else None

    def mapped(f, tree):
        return None if tree is None else (f(tree[0]), mapped(f, tree[1]), mapped(f, tree[2]))

    def total(tree):
        return 0.0 if tree is None else tree[0] + total(tree[1]) * total(tree[2]) + total(tree[1])

    return total(mapped(lambda v: v * v * x, build(depth)))


@into
def tuples_in_pairs(x, depth):
    def build(d):
        return ((x * d, d), (build(d - 1), build(d - 1))) if d else None

    def total(tree):
        if tree is None:
            return x
        (value, k), (left, right) = tree
        return value * k * total(left) + total(right)

    return total(build(depth))


@into
def tuples_as_state(x, n):
    state = (x, None)
    for i in range(n):
        value, rest = state
        state = (math.cos(value) * x, state) if i % 2 else (value * 2.0, rest)
    return state[0] if state[1] is None else state[0] * state[1][0]
