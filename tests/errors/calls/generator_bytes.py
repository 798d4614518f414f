"""Bytes are not known."""

import numpy as np


def f(seed):
    rng = np.random.default_rng(seed)
    return rng.bytes(4)


ARGS = (2,)
