"""A list and a tuple do not add."""


def f(x):
    return [x] + (x,)


ARGS = (2.0,)
