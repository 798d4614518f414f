"""numpy has no such function."""

import numpy as np


def f(x):
    return np.foo(x)


ARGS = (2.0,)
