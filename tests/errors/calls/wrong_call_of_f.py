"""The compiled function itself gets too few arguments."""


def f(x, y):
    return x * y


ARGS = (2.0,)
