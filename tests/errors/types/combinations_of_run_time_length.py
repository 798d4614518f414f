"""The length of a tuple is part of its type."""

import itertools


def f(x, xs):
    total = 0.0
    for chosen in itertools.combinations((x, 2.0, 3.0), int(xs[0])):
        total += sum(chosen)
    return total


ARGS = (2.0, [2.0])
