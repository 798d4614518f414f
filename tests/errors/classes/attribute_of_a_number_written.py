"""Numbers have no attributes to set."""


def f(x):
    x.name = 1.0
    return x


ARGS = (2.0,)
