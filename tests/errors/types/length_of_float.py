"""A float has no length."""


def f(x):
    return len(x) * x


ARGS = (2.0,)
