"""An exception has one text."""


def f(x):
    if x < 0.0:
        raise ValueError("negative", 1)
    return x


ARGS = (2.0,)
