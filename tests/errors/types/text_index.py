"""Arrays have no names."""

import numpy as np


def f(a):
    return a["x"]


ARGS = (np.array([1.0, 2.0]),)
