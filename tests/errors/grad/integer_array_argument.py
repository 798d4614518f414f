"""grad() by an array of ints."""

import numpy as np


def f(a):
    return a[0] * 2.0


ARGS = (np.array([1, 2]),)
API = "grad"
