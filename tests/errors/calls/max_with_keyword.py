"""A keyword that max has not."""


def f(x):
    return max(x, -3.0, reverse=True)


ARGS = (2.0,)
