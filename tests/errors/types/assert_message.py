"""The message of an assert is text."""


def f(x):
    assert x > 0.0, x
    return x


ARGS = (2.0,)
