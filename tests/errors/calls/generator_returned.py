"""A generator that compiled code made cannot leave it."""

import numpy as np


def f(seed):
    return np.random.default_rng(seed), 1.0


ARGS = (2,)
