"""A complex cotangent where the function returned a real number."""

import cmath
import math

import pullback as pb


def f(x):
    if x > 0.0:
        return math.sqrt(x)
    return cmath.sqrt(x)


def call():
    return pb.vjp(f, 2.0)[1](1j)
