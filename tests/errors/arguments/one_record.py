"""A record of a structured array as an argument."""

import numpy as np


def f(r):
    return r["x"]


ARGS = (np.zeros(3, dtype=[("x", "f8")])[0],)
