"""The tangent of an object is an object of its class."""

import pullback as pb


class Point:
    def __init__(self, x):
        self.x = x


def f(p):
    return p.x * p.x


def call():
    return pb.jvp(f, (Point(1.0),), (1.0,))
