"""A positional-only parameter is given by name."""


def scaled(x, /, scale):
    return x * scale


def f(x):
    return scaled(x=x, scale=2.0)


ARGS = (2.0,)
