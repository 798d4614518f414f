"""A recursion without an end has no result."""


def loop(x):
    return loop(x + 1.0)


def f(x):
    return loop(x)


ARGS = (2.0,)
