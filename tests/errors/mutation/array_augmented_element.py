"""Augmented assignment to an element writes the array."""

import numpy as np


def f(a):
    a[0] += 1.0
    return a[0]


ARGS = (np.array([1.0, 2.0]),)
