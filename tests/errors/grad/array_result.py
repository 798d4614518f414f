"""grad() needs a scalar result."""

import numpy as np


def f(a):
    return a * a


ARGS = (np.array([1.0, 2.0]),)
API = "grad"
