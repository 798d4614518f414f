"""A function of SciPy."""

import scipy.special


def f(x):
    return scipy.special.spence(x)


ARGS = (2.0,)
