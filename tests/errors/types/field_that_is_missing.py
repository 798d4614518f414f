"""A field that a structured array does not have."""

import numpy as np


def f(n):
    a = np.zeros(n, dtype=[("mass", "f8"), ("speed", "f8")])
    return a["mas"]


ARGS = (3,)
