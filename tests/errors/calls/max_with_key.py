"""Keywords of max."""


def f(x):
    return max(x, -3.0, key=abs)


ARGS = (2.0,)
