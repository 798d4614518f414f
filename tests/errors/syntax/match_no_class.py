"""A class pattern names a class."""


def f(x):
    kind = x * x
    match x:
        case kind(y):
            return y
    return x


ARGS = (2.0,)
