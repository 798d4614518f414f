"""A function where its value is meant."""

import math


def f(x):
    return math.sin * x


ARGS = (2.0,)
