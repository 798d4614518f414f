"""A whole number beyond 64 bits."""


def f(x):
    return x * 100000000000000000000


ARGS = (2.0,)
