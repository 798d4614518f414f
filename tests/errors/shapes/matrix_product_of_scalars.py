"""`@` needs arrays."""


def f(x, y):
    return x @ y


ARGS = (2.0, 3.0)
