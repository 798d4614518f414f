import numpy as np


def f(a):
    b = np.broadcast_to(a, (2, 3))
    a[0] = 5.0
    return np.sum(b)


ARGS = (np.ones(3),)
