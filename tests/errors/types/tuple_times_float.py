"""A tuple repeats by an int only."""


def f(x):
    t = (1.0, 2.0)
    return t * x


ARGS = (2.0,)
