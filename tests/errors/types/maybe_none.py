"""A helper that returns nothing on one path."""


def root(x):
    if x > 0.0:
        return x**0.5


def f(x):
    return root(x) * 2.0


ARGS = (2.0,)
