"""Arrays can be read, not written yet."""

import numpy as np


def f(a):
    a[0] = 1.0
    return a[1]


ARGS = (np.array([1.0, 2.0]),)
