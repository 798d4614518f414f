"""Weighted quantiles are known by one method only, as in NumPy."""

import numpy as np


def f(a, w):
    return np.quantile(a, 0.5, weights=w)


ARGS = (np.ones(3), np.ones(3))
