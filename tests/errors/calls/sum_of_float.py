"""The error of a builtin written in Python stands at its call."""


def f(x):
    return 1.0 + sum(x)


ARGS = (2.0,)
