"""An int that does not fit 64 bits."""


def f(n):
    return n + 1


ARGS = (2**70,)
