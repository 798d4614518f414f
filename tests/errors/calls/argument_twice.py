"""A helper gets one argument twice."""


def scale(a, factor=2.0):
    return a * factor


def f(x):
    return scale(x, a=x)


ARGS = (2.0,)
