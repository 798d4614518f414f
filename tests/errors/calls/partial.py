"""functools.partial makes an object."""

import functools


def power(n, x):
    return x**n


square = functools.partial(power, 2)


def f(x):
    return square(x)


ARGS = (2.0,)
