"""Text from several trips."""

import numpy as np

import pullback as pb


def f(a):
    for i in pb.prange(len(a)):
        print(a[i])
    return 0.0


ARGS = (np.ones(9),)
