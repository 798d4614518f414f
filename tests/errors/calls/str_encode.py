"""Bytes are not supported."""


def f(x):
    return str(x).encode()


ARGS = (2.0,)
