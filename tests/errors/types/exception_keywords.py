"""Exceptions take what they keep by position."""


def f(x):
    if x < 0.0:
        raise ValueError(text="negative")
    return x


ARGS = (2.0,)
