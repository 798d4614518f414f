"""A tuple of two into three names."""


def f(x):
    a, b, c = (x, x)
    return a + b + c


ARGS = (2.0,)
