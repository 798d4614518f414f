"""A number has no items."""


def f(x):
    first, *rest = x
    return first


ARGS = (2.0,)
