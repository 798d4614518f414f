"""Vectors of unlike lengths."""

import numpy as np


def f(x):
    return np.stack([np.full(2, x), np.zeros(3)])


ARGS = (2.0,)
