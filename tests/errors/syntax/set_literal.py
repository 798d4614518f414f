"""Sets are not in the language."""


def f(x):
    s = {1, 2}
    return x


ARGS = (2.0,)
