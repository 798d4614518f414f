"""An array cannot grow in place."""

import numpy as np


def f(x):
    a = np.zeros(3)
    a += np.full(4, x)
    return a


ARGS = (2.0,)
