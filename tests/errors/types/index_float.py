"""A float has no elements to index."""


def f(x):
    return x[0]


ARGS = (2.0,)
