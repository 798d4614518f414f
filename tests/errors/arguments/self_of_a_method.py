"""A decorated method takes its object as an argument."""

import pullback as pb


class Model:
    w = 2.0

    @pb.jit
    def predict(self, x):
        return self.w * x


def call():
    return Model().predict(3.0)
