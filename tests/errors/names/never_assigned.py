"""A local that is read before any assignment."""


def f(x):
    y = z * x
    z = 1.0
    return y


ARGS = (2.0,)
