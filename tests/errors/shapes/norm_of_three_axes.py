"""A norm is one of vectors or of matrices."""

import numpy as np


def f(a):
    return np.linalg.norm(a, 1)


ARGS = (np.zeros((2, 2, 2)),)
