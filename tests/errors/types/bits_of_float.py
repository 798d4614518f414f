"""Bit operations need integers."""


def f(x):
    return x & 1


ARGS = (2.0,)
