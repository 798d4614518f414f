"""Globals can be read, not written."""

counter = 0.0


def f(x):
    global counter
    counter = x
    return x * x


ARGS = (2.0,)
