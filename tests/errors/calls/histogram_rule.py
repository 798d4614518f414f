"""A rule for the number of bins that nobody knows."""

import numpy as np


def f(a):
    return np.histogram(a, bins="bayes")


ARGS = (np.ones(3),)
