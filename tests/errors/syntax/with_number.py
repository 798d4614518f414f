"""`with` takes a context manager."""


def f(x):
    with x as y:
        return y


ARGS = (2.0,)
