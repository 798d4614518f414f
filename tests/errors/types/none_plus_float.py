"""None is no number."""


def g(x):
    if x > 100.0:
        return x


def f(x):
    return None + x


ARGS = (2.0,)
