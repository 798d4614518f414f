"""An inner grad() of a function that returns a tuple."""

import pullback as pb


def f(x):
    return pb.grad(lambda y: (y, y))(x)


ARGS = (2.0,)
