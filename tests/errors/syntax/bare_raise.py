"""`raise` needs an exception."""


def f(x):
    if x < 0.0:
        raise
    return x


ARGS = (2.0,)
