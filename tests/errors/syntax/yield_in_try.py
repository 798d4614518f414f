"""A handler of everything would catch the end that a consumer makes, too."""


def values(x):
    try:
        yield x
        yield 1.0 / x
    except BaseException:
        yield 0.0


def f(x):
    return sum(values(x))


ARGS = (2.0,)
