"""Text and numbers do not add."""


def f(x):
    return "a" + x


ARGS = (2.0,)
