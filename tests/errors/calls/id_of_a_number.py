"""Numbers have no identity."""


def f(x):
    return x * (id(x) == id(x))


ARGS = (2.0,)
