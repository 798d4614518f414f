"""`a += b` on an array writes in place."""

import numpy as np


def f(a):
    a += 1.0
    return np.sum(a)


ARGS = (np.array([1.0, 2.0]),)
