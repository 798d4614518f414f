"""A mask with more axes than the array."""

import numpy as np


def f(a, w):
    return np.sum(a, where=w)


ARGS = (np.ones(3), np.ones((2, 3), bool))
