"""A parameter list has a fixed length."""


def f(*xs):
    return xs[0]


ARGS = (2.0,)
