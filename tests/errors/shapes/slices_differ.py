"""Whether the slices fit depends on the number."""

import numpy as np


def f(a, n):
    return a[:n] + a[: n + 1]


ARGS = (np.arange(9.0), 3)
