"""The class of sets."""


def f(x):
    return len(set((x, x)))


ARGS = (2.0,)
