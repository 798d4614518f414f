"""__init__ returns something."""


class Model:
    def __init__(self, x):
        self.x = x
        return x


def f(x):
    return Model(x).x


ARGS = (2.0,)
