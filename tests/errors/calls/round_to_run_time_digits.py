"""The digits of round are written."""


def f(x, n):
    return round(x, n)


ARGS = (2.0, 1)
