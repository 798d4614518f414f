"""Whether the ravel is a view depends on the strides of the argument, which are not part of its type."""

import numpy as np


def f(m):
    b = m * 2.0
    flat = b.ravel()
    flat[1] = 7.0
    return b[0, 1]


ARGS = (np.asfortranarray(np.ones((2, 3))),)
