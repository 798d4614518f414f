"""An exception class of the user."""


class Diverged(Exception):
    pass


def f(x):
    if x > 1.0:
        raise Diverged("too large")
    return x


ARGS = (2.0,)
