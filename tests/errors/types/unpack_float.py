"""A float does not unpack."""


def f(x):
    a, b = x
    return a + b


ARGS = (2.0,)
