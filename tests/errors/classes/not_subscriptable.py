"""An object without __getitem__."""


class Model:
    def __init__(self, x):
        self.x = x


def f(x):
    return Model(x)[0]


ARGS = (2.0,)
