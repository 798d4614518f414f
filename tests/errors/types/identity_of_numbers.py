"""Numbers have no identity."""


def f(x):
    return x is 2.0  # noqa: F632


ARGS = (2.0,)
