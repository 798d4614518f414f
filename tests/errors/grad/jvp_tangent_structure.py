"""jvp() with a tangent of another structure."""

import pullback as pb


def f(x):
    return x * x


def call():
    return pb.jvp(f, (2.0,), ((1.0, 1.0),))
