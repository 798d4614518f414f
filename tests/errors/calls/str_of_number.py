"""Text cannot be made from numbers."""


def f(x):
    return str(x)


ARGS = (2.0,)
