"""A base of a class that is no class."""


def f(x):
    base = 3.0

    class Model(base):
        pass

    return x


ARGS = (2.0,)
