"""An axis that depends on how large an array is, in a function that is called."""

import numpy as np


def total(a, axis):
    return np.sum(a, axis=axis)


def f(a):
    return total(a, a.shape[0] - 2)


ARGS = (np.ones((2, 3)),)
