"""A class that makes its objects by __new__."""


class Model:
    def __new__(cls, x):
        return super().__new__(cls)

    def __init__(self, x):
        self.x = x


def f(x):
    return Model(x).x


ARGS = (2.0,)
