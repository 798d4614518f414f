"""max() of an empty tuple."""


def f(x):
    return max(()) * x


ARGS = (2.0,)
