"""Attributes cannot be assigned."""

import numpy as np


def f(a):
    a.shape = (2, 1)
    return a[0, 0]


ARGS = (np.array([1.0, 2.0]),)
