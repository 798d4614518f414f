"""The derivative by the order of a Bessel function, which has no formula."""

import scipy.special

import pullback


def bessel(order, x):
    return scipy.special.jv(order, x)


def f(order, x):
    return pullback.grad(bessel)(order, x)


ARGS = (1.5, 2.0)
