"""An attribute that no object of the class has."""


class Model:
    def __init__(self, weight):
        self.weight = weight


def f(x):
    return Model(x).wieght


ARGS = (2.0,)
