"""An attribute that floats do not have."""


def f(x):
    return x.foo


ARGS = (2.0,)
