"""Arrays have one or two axes in this version."""

import numpy as np


def f(a):
    return a[0, 0, 0]


ARGS = (np.zeros((2, 2, 2)),)
