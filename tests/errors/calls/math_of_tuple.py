"""A function of math gets a tuple."""

import math


def f(x):
    return math.sin((x, x))


ARGS = (2.0,)
