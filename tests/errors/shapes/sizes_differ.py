"""Two vectors of different lengths."""

import numpy as np


def f(a, b):
    return np.sum(a * b)


ARGS = (np.ones(3), np.ones(2))
