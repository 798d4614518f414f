"""A tuple of three into two names."""


def f(x):
    a, b = (x, x, x)
    return a + b


ARGS = (2.0,)
