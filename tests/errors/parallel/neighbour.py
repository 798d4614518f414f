"""A trip reads what another one writes."""

import numpy as np

import pullback as pb


def f(a):
    for i in pb.prange(1, len(a)):
        a[i] = a[i - 1] + 1.0
    return 0.0


ARGS = (np.ones(9),)
