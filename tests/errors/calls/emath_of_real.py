"""Whether the result is complex depends on the values."""

import numpy as np


def f(a):
    return np.emath.sqrt(a)


ARGS = (np.ones(3),)
