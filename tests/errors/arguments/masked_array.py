"""A masked array."""

import numpy as np


def f(a):
    return np.sum(a)


ARGS = (np.ma.masked_array([1.0, 2.0], [True, False]),)
