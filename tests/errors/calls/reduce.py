"""A function of the standard library that is not plain Python."""

import functools


def f(x):
    return functools.reduce(lambda a, b: a * b, (1.0, x))


ARGS = (2.0,)
