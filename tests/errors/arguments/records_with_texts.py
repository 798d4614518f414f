"""A structured array with a field of texts."""

import numpy as np


def f(a):
    return a["x"].sum()


ARGS = (np.zeros(3, dtype=[("name", "S8"), ("x", "f8")]),)
