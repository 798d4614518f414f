"""A function of math gets an array."""

import math
import numpy as np


def f(a):
    return math.sin(a)


ARGS = (np.array([1.0, 2.0]),)
