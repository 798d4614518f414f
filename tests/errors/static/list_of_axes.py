"""NumPy takes several axes as a tuple."""

import numpy as np


def f(a):
    return np.sum(a, axis=[0, 1])


ARGS = (np.ones((2, 3)),)
