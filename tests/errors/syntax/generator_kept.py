"""A generator cannot be kept in a list."""


def values(x):
    yield x
    yield x * x


def f(x):
    kept = [values(x)]
    return sum(kept[0])


ARGS = (2.0,)
