"""A class cannot be defined inside a function."""


def f(x):
    class Point:
        pass

    return x


ARGS = (2.0,)
