"""A helper gets a keyword that it does not have."""


def scale(a, factor=2.0):
    return a * factor


def f(x):
    return scale(x, fcator=3.0)


ARGS = (2.0,)
