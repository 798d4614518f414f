"""keepdims decides the rank of the result."""

import numpy as np


def f(a):
    return np.sum(a, axis=0, keepdims=a[0, 0] > 0.0)


ARGS = (np.ones((2, 3)),)
