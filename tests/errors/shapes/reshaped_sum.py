"""A reshaped argument meets an array of another shape."""

import numpy as np


def f(x):
    return x.reshape(2, 3) + np.zeros((3, 2))


ARGS = (np.arange(6.0),)
