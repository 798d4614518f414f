"""A chained comparison takes the truth of the first."""

import numpy as np


def f(a):
    return 0.0 < a < 1.0


ARGS = (np.array([1.0, 2.0]),)
