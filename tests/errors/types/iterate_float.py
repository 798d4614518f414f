"""A float has no elements."""


def f(x):
    total = 0.0
    for v in x:
        total += v
    return total


ARGS = (2.0,)
