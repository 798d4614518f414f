"""How many axes an array has depends on its sizes."""

import numpy as np


def f(a):
    return np.zeros(tuple(n for n in a.shape if n > 1))


ARGS = (np.ones((2, 3)),)
