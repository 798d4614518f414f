"""A gradient by an object that holds no float."""

import pullback as pb


class Count:
    def __init__(self, n):
        self.n = n


def f(c):
    return c.n * 1.0


def call():
    return pb.grad(f)(Count(3))
