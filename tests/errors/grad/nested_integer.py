"""An inner grad() by an int."""

import pullback as pb


def f(x):
    return x * pb.grad(lambda y: y * y)(2)


ARGS = (2.0,)
