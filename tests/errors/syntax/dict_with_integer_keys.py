"""The keys of a dict are strings."""


def f(x):
    d = {0: x}
    return d[0]


ARGS = (2.0,)
