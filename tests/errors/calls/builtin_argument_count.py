"""A function of math gets too many arguments."""

import math


def f(x):
    return math.sin(x, x)


ARGS = (2.0,)
