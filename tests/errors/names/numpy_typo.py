"""A misspelt function of numpy."""

import numpy as np


def f(a):
    return np.sum(np.tahn(a))


ARGS = (np.array([1.0, 2.0]),)
