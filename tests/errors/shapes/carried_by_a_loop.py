"""The loop runs, and what it carries keeps its shape."""

import numpy as np


def f(x):
    a = np.full(3, x)
    for _ in range(2):
        a = a * 0.5 + np.ones(4)
    return a


ARGS = (2.0,)
