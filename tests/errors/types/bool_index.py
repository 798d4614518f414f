"""NumPy's bool index adds an axis."""

import numpy as np


def f(a):
    return a[True]


ARGS = (np.array([1.0, 2.0]),)
