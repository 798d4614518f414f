"""A loop that is left early."""

import numpy as np

import pullback as pb


def f(a):
    s = 0.0
    for i in pb.prange(len(a)):
        if a[i] > 5.0:
            break
        s += a[i]
    return s


ARGS = (np.ones(9),)
