"""The inner sizes of a product cannot agree."""

import numpy as np


def f(m, v):
    w = m @ v
    return np.sum((m * w) @ m)


ARGS = (np.ones((2, 3)), np.ones(3))
