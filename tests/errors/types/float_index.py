"""An index is an integer."""

import numpy as np


def f(a, x):
    return a[x]


ARGS = (np.array([1.0, 2.0]), 1.0)
