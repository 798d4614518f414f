"""Imports belong at the top of the module."""


def f(x):
    import math

    return math.sin(x)


ARGS = (2.0,)
