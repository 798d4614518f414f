"""An iterator lives in compiled code only."""


def f(x):
    return enumerate((x, x))


ARGS = (2.0,)
