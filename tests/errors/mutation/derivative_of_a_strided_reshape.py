"""A reshape that is a view of a strided argument, or a copy: the gradient has other strides than the argument."""

import numpy as np


def f(m):
    flat = m.T.reshape(6)
    flat[1] = flat[0] * flat[2]
    return m[0, 0] * m[0, 1]


API = "grad"
ARGS = (np.asfortranarray(np.ones((2, 3))),)
