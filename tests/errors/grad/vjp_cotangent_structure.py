"""A pullback that gets a cotangent of another structure."""

import pullback as pb


def f(x):
    return x * x, x


def call():
    return pb.vjp(f, 2.0)[1](1.0)
