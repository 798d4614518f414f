"""Polynomials as objects: arrays of coefficients do the same."""

import numpy as np


def f(c):
    return np.poly1d(c)(2.0)


ARGS = (np.ones(3),)
