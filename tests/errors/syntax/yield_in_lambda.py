"""A lambda that is a generator."""


def f(x):
    g = lambda: (yield x)
    return x


ARGS = (2.0,)
