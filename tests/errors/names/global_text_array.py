"""A global that is assigned holds an array of texts."""

import numpy as np

names = np.array(["a", "b"])


def f(x):
    global names
    old = names
    names = 2.0
    return x


ARGS = (2.0,)
