"""Tuples cannot be changed."""


def f(x):
    t = (x, x)
    t[0] = 1.0
    return t[0]


ARGS = (2.0,)
