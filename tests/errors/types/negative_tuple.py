"""A tuple has no sign."""


def f(x):
    t = (x, x)
    return -t


ARGS = (2.0,)
