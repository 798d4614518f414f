"""What the consumer raises and what the inner generator raises come out of one call."""


def inner(x):
    yield x
    yield 1.0 / x


def values(x):
    try:
        yield from inner(x)
    except ZeroDivisionError:
        yield 0.0


def f(x):
    return sum(values(x))


ARGS = (2.0,)
