"""The truth of an array of several elements."""

import numpy as np


def f(a):
    if a > 0.0:
        return a[0]
    return a[1]


ARGS = (np.array([1.0, 2.0]),)
