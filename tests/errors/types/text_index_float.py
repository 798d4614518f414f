"""A string is indexed with ints."""


def f(x):
    s = str(x)
    return s[x]


ARGS = (2.0,)
