"""A subclass of ndarray."""

import numpy as np


def f(a):
    return np.sum(a)


ARGS = (np.matrix([[1.0, 2.0]]),)
