"""Rows are not compared with each other."""

import numpy as np


def f(a):
    return np.unique(a, axis=0)


ARGS = (np.ones((2, 3)),)
