"""A function inside a cache."""

import functools


@functools.lru_cache
def square(x):
    return x * x


def f(x):
    return square(x) + 1.0


ARGS = (2.0,)
