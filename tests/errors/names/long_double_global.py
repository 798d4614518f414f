"""A global array of C's long doubles."""

import numpy as np

W = np.array([1.0, 2.0], dtype=np.longdouble)


def f(x):
    return x * W[0]


ARGS = (2.0,)
