"""Keywords of a call are written out."""


def add(a, b):
    return a + b


def f(x):
    return add(**{"a": x, "b": x})


ARGS = (2.0,)
