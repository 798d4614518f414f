"""No such algorithm."""

import numpy as np


def f(a):
    return np.sort(a, kind="bubble")


ARGS = (np.ones(3),)
