"""A global that is no number, array, function or module."""

handle = object()


def f(x):
    return x * handle


ARGS = (2.0,)
