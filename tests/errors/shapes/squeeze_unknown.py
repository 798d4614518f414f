import numpy as np


def f(a, n):
    return np.squeeze(a[:n])


ARGS = (np.ones((2, 3)), 1)
