"""A seed that is no whole number."""

import numpy as np


def f(x):
    return x * np.random.default_rng(x).normal()


ARGS = (2.0,)
