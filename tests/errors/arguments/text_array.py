"""An array of text."""

import numpy as np


def f(a):
    return a[0]


ARGS = (np.array(["a", "b"]),)
