"""A format of ints for a float."""


def f(x):
    return f"{x:d}"


ARGS = (2.0,)
