"""What is assigned is too long."""

import numpy as np


def f(a, b):
    a[1:3] = b
    return a


ARGS = (np.zeros(5), np.ones(4))
