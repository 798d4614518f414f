"""isinstance takes classes."""


def f(x):
    return isinstance(x, "float")


ARGS = (2.0,)
