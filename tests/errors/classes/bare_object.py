"""An object of class object."""


def f(x):
    marker = object()
    return x if marker is not None else 0.0


ARGS = (2.0,)
