"""A global array of complex numbers."""

import numpy as np

W = np.array([1.0 + 2.0j])


def f(x):
    return x * W[0]


ARGS = (2.0,)
