"""Operators of sets take sets."""


def f(x):
    s = {1, 2} | [3]
    return x * len(s)


ARGS = (2.0,)
