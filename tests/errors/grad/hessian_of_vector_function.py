"""The Hessian of a function of several results."""

import numpy as np

import pullback as pb


def f(a):
    return a * a


def call():
    return pb.hessian(f)(np.ones(2))
