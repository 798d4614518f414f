"""Random numbers."""

import numpy as np


def f(x):
    return x * np.random.rand()


ARGS = (2.0,)
