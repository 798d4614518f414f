"""An array of complex numbers."""

import numpy as np


def f(a):
    return a[0]


ARGS = (np.array([1.0 + 2.0j]),)
