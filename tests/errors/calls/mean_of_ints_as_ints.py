"""A mean in a dtype of ints."""

import numpy as np


def f(a):
    return np.mean(a, dtype=np.int64)


ARGS = (np.arange(3),)
