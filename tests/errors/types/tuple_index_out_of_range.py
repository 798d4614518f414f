"""A constant index past the end."""


def f(x):
    t = (x, x)
    return t[2]


ARGS = (2.0,)
