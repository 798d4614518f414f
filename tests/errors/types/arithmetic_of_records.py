"""Arithmetic of whole structured arrays."""

import numpy as np


def f(a):
    return a * 2.0


ARGS = (np.zeros(3, dtype=[("x", "f8"), ("y", "f8")]),)
