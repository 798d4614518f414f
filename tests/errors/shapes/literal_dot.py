"""Vectors of unlike lengths."""

import numpy as np


def f(x):
    return np.dot(np.array([x, 1.0, 2.0]), np.array([x, x]))


ARGS = (2.0,)
