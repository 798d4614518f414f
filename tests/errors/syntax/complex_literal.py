"""Complex numbers are not in the language yet."""


def f(x):
    return x * 2j


ARGS = (2.0,)
