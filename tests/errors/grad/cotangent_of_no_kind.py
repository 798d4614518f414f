"""A cotangent that is like none of the kinds of results."""

import numpy as np

import pullback as pb


def f(x):
    return np.sum(x) if x[0] > 0.0 else x * 2.0


def call():
    return pb.vjp(f, np.ones(2))[1](np.ones(2, np.float32))
