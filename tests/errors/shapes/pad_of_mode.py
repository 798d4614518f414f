import numpy as np


def f(a, n):
    return np.pad(a, 1, mode="cubic")


ARGS = (np.ones(4), 1)
