"""An axis that the array does not have."""

import numpy as np


def f(a):
    return np.sum(a, axis=2)


ARGS = (np.array([1.0, 2.0]),)
