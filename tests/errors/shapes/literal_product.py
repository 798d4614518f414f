"""The sizes that do not fit are literal, the others come with the call."""

import numpy as np


def f(n):
    return np.zeros((n, 2)) @ np.zeros((3, n))


ARGS = (4,)
