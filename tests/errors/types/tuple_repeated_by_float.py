"""A tuple is repeated a whole number of times."""


def f(x, n):
    return (x,) * n


ARGS = (2.0, 3.0)
