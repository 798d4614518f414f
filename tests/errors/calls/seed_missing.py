"""A generator without a seed."""

import numpy as np


def f(x):
    rng = np.random.default_rng()
    return x * rng.normal()


ARGS = (2.0,)
