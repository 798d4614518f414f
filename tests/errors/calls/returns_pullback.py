"""A pullback made in compiled code stays there."""

import math

import pullback as pb


def f(x):
    return pb.vjp(math.sin, x)


ARGS = (2.0,)
