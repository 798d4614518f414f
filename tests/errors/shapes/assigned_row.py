"""A row is set to a vector that is too short."""

import numpy as np


def f(x):
    a = np.zeros((2, 3))
    a[0] = np.array([x, x])
    return a


ARGS = (2.0,)
