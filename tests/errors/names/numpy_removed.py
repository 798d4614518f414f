"""A name that NumPy 2 has no more."""

import numpy as np


def f(x):
    return x * np.NaN


ARGS = (2.0,)
