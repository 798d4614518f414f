"""Only exceptions can be raised."""


def f(x):
    if x < 0.0:
        raise x
    return x


ARGS = (2.0,)
