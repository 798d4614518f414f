"""A tuple and a number do not add."""


def f(x):
    t = (x, x)
    return t + x


ARGS = (2.0,)
