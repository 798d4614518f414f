import numpy as np


def f(m):
    return np.sum(m.transpose(1, 0, 2).ravel(order="K")[:2])


ARGS = (np.ones((2, 3, 2)),)
