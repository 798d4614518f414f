"""Generators are not in the language."""


def f(x):
    yield x
    yield x * x


ARGS = (2.0,)
