"""What consumes a generator runs inside its `yield`."""

import contextlib


def values(x):
    with contextlib.nullcontext(x) as y:
        yield y


def f(x):
    return sum(values(x))


ARGS = (2.0,)
