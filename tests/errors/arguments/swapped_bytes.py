"""An array of the other byte order."""

import numpy as np


def f(a):
    return a[0]


ARGS = (np.zeros(2, ">f8"),)
