"""A generator that is a context manager cannot catch what the body of `with` raises."""

from contextlib import contextmanager


@contextmanager
def ignoring(x):
    try:
        yield x
    except ValueError:
        pass


def f(x):
    with ignoring(x) as y:
        x = y * y
    return x


ARGS = (2.0,)
