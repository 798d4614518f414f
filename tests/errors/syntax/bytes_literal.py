"""Bytes are not in the language."""


def f(x):
    return b"abc"


ARGS = (2.0,)
