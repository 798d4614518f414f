"""A complex number has no floor."""

import numpy as np


def f(z):
    return np.floor(z)


ARGS = (1.0 + 2.0j,)
