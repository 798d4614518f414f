"""Loops whose numbers must be known are written out, but not any number of trips."""

import numpy as np


def f(a):
    total = 0.0
    for i in range(1000):
        total += np.sum(a, axis=i % 2)[0]
    return total


ARGS = (np.ones((2, 3)),)
