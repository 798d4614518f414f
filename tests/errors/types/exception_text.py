"""The text of an exception is written out."""


def f(x):
    if x < 0.0:
        raise ValueError(x)
    return x


ARGS = (2.0,)
