"""A tuple that gets longer with every trip."""

import numpy as np


def f(a):
    found = ()
    for v in a:
        found = found + (v,)
    return found


ARGS = (np.array([1.0, 2.0]),)
