"""A number is not a function."""


def f(x):
    return x(1.0)


ARGS = (2.0,)
