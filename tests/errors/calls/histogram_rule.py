"""How many bins there are would depend on the data by a rule."""

import numpy as np


def f(a):
    return np.histogram(a, bins="auto")


ARGS = (np.ones(3),)
