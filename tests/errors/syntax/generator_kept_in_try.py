"""A generator that yields inside `try` is stepped through by one loop."""


def values(x):
    try:
        yield x
        yield x * x
    finally:
        x = 0.0


def f(x):
    steps = values(x)
    return next(steps) + next(steps)


ARGS = (2.0,)
