"""A vector and a matrix."""

import numpy as np


def f(x):
    return np.concatenate([np.full(2, x), np.zeros((2, 2))])


ARGS = (2.0,)
