"""A branch that not every call takes: the error is NumPy's, where the line runs."""

import numpy as np


def f(x):
    a = np.full(3, x)
    if x > 1.0:
        a = a + np.ones(4)
    return a


ARGS = (2.0,)
