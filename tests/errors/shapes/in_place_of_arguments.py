"""The target is too short."""

import numpy as np


def f(a, b):
    a *= b
    return a


ARGS = (np.zeros(5), np.ones(4))
