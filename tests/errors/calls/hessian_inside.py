"""Part of the surface that only Python calls."""

import pullback as pb


def f(x):
    return pb.hessian(lambda y: y**3)(x)


ARGS = (2.0,)
