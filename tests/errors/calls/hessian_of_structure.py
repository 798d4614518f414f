"""A Hessian of a function that returns two numbers."""

import pullback as pb


def f(x):
    return pb.hessian(lambda y: (y, y**3))(x)


ARGS = (2.0,)
