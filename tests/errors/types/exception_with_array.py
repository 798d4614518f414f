"""What leaves compiled code with an exception."""

import numpy as np


def f(a):
    if a[0] < 0.0:
        raise ValueError("negative", a * 2.0)
    return a[0]


ARGS = (np.ones(3),)
