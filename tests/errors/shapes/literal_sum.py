"""Two arrays made with unlike sizes."""

import numpy as np


def f(x):
    a = np.zeros(3)
    return np.sum(a * x + np.ones(4))


ARGS = (2.0,)
