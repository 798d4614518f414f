"""Objects of classes are not in the language yet."""


class Model:
    def __init__(self, w):
        self.w = w


def f(x):
    return Model(x).w


ARGS = (2.0,)
