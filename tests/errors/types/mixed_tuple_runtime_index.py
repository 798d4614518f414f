"""A run-time index into a tuple of unlike parts."""


def f(x, i):
    t = (x, (x, x))
    return t[i] * 2.0


ARGS = (2.0, 0)
