"""A function of SciPy."""

import scipy.special


def f(x):
    return scipy.special.wrightomega(x)


ARGS = (2.0,)
