"""None has no order."""


def f(x):
    return x < None


ARGS = (2.0,)
