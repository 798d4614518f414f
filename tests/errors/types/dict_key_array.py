"""An array is no key."""

import numpy as np


def f(x):
    d = {}
    d[np.array([x])] = 1.0
    return x


ARGS = (2.0,)
