"""A function of the standard library that is not plain Python."""

import itertools


def f(x):
    a, b = itertools.tee((1.0, x))
    return sum(a) * sum(b)


ARGS = (2.0,)
