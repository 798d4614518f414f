"""The lengths of the arguments differ."""

import numpy as np


def f(a, b):
    return np.dot(a, b)


ARGS = (np.zeros(3), np.zeros(4))
