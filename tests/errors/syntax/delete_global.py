"""Globals can be read, not removed."""

counter = 0.0


def f(x):
    global counter
    del counter
    return x


ARGS = (2.0,)
