import numpy as np


def f(a):
    b = np.array(a, dtype=np.float32, copy=False)
    b[0] = 1.0
    return a[0]


ARGS = (np.ones(3),)
