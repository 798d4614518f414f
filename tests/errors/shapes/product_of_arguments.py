"""The inner sizes of the arguments differ."""

import numpy as np


def f(a, b):
    return a @ b


ARGS = (np.zeros((2, 3)), np.zeros((4, 2)))
