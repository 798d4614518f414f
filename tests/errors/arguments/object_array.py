"""An array of Python objects."""

import numpy as np


def f(a):
    return a[0]


ARGS = (np.array([1.0, None], dtype=object),)
