"""math has no such function."""

import math


def f(x):
    return math.foo(x)


ARGS = (2.0,)
