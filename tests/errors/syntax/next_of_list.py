"""next() takes an iterator."""


def f(x):
    values = [x, x * x]
    return next(values)


ARGS = (2.0,)
