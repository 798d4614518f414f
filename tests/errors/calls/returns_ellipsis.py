"""The ellipsis is an index only."""


def f(x):
    return ...


ARGS = (2.0,)
