"""A function of SciPy."""

import scipy.special


def f(x):
    return scipy.special.gamma(x)


ARGS = (2.0,)
