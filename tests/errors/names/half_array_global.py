"""A global array of half precision."""

import numpy as np

W = np.array([1.0, 2.0], dtype=np.float16)


def f(x):
    return x * W[0]


ARGS = (2.0,)
