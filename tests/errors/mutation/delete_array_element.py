"""Arrays keep their size."""

import numpy as np


def f(x):
    a = np.array([x, 1.0])
    del a[0]
    return a[0]


ARGS = (2.0,)
