"""The special methods of both operands give up."""


class Model:
    def __init__(self, x):
        self.x = x

    def __add__(self, other):
        return NotImplemented


def f(x):
    return (Model(x) + 1.0).x


ARGS = (2.0,)
