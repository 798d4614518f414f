"""Six numbers do not fill eight places."""

import numpy as np


def f(x):
    return np.full(6, x).reshape(4, 2)


ARGS = (2.0,)
