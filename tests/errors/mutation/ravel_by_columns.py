import numpy as np


def f(m):
    return np.sum(m.ravel(order="F")[:2])


ARGS = (np.ones((2, 3)),)
