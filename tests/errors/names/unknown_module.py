"""A function of a module that pullback does not know."""

import random


def f(x):
    return x * random.random()


ARGS = (2.0,)
