"""Starred targets make lists."""


def f(x):
    first, *rest = (x, x, x)
    return first


ARGS = (2.0,)
