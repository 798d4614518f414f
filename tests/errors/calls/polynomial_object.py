"""Polynomials as objects: arrays of coefficients do the same."""

from numpy.polynomial import Polynomial

P = Polynomial([1.0, 2.0])


def f(x):
    return P(x)


ARGS = (2.0,)
