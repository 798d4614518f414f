"""A vector has one index."""

import numpy as np


def f(a):
    return a[0, 1]


ARGS = (np.array([1.0, 2.0]),)
