"""An array of extended precision."""

import numpy as np


def f(a):
    return a[0]


ARGS = (np.array([1.0], dtype=np.longdouble),)
