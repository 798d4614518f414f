"""A NamedTuple that holds its own kind to any depth; the error comes at once."""

from typing import NamedTuple


class Leaf(NamedTuple):
    value: float


class Split(NamedTuple):
    threshold: float
    left: "Leaf | Split"
    right: "Leaf | Split"


def build(xs, depth):
    if depth == 0 or len(xs) < 2:
        return Leaf(sum(xs))
    m = len(xs) // 2
    return Split(xs[m], build(xs[:m], depth - 1), build(xs[m:], depth - 1))


def f(x):
    return build([x * k for k in range(9)], 2)[0]


ARGS = (2.0,)
