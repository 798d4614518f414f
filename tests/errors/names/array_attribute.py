"""An attribute that arrays do not have."""

import numpy as np


def f(a):
    return a.foo


ARGS = (np.array([1.0, 2.0]),)
