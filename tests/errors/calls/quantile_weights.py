"""Weighted quantiles are not known."""

import numpy as np


def f(a, w):
    return np.quantile(a, 0.5, weights=w, method="inverted_cdf")


ARGS = (np.ones(3), np.ones(3))
