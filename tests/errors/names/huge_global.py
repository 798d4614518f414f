"""A global int beyond 64 bits."""

LIMIT = 2**70


def f(x):
    return x * LIMIT


ARGS = (2.0,)
