"""jit() of something that cannot be called."""

import pullback as pb

number = 3.0


def call():
    return pb.jit(number)(2.0)
