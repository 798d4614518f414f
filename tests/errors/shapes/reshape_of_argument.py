"""Six numbers do not fill eight places."""

import numpy as np


def f(a):
    return a.reshape(4, 2)


ARGS = (np.zeros(6),)
