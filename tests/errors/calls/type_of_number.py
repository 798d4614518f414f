"""The class of a value."""


def f(x):
    return 1.0 if type(x) is float else 2.0


ARGS = (2.0,)
