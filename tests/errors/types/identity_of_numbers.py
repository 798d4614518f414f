"""Numbers have no identity."""


def f(x, y):
    return x is y


ARGS = (2.0, 3.0)
