"""Nothing can be sent to a generator."""


def values(x):
    y = 2.0 * (yield x)
    yield y


def f(x):
    return sum(values(x))


ARGS = (2.0,)
