"""Views of any strides could leave the array."""

import numpy as np


def f(a):
    return np.lib.stride_tricks.as_strided(a, (3, 2), (8, 8))


ARGS = (np.arange(4.0),)
