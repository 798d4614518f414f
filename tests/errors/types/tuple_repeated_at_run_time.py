"""The length of a tuple is fixed."""


def f(x, n):
    return (x,) * n


ARGS = (2.0, 3)
