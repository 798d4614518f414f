"""A method that is compiled by itself."""

import pullback as pb


class Scale:
    def times(self, x):
        return 2.0 * x


def call():
    return pb.jit(Scale().times)(2.0)
