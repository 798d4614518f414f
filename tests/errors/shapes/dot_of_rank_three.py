"""Products are of vectors and matrices."""

import numpy as np


def f(a, b):
    return np.dot(a, b)


ARGS = (np.zeros((2, 2, 2)), np.zeros((2, 2, 2)))
