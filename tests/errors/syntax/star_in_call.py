"""A call passes a fixed number of arguments."""


def add(a, b):
    return a + b


def f(x):
    pair = (x, x)
    return add(*pair)


ARGS = (2.0,)
