"""A keyword that ufuncs do not have."""

import numpy as np


def f(a):
    return np.sum(np.sin(a, axis=0))


ARGS = (np.array([1.0, 2.0]),)
