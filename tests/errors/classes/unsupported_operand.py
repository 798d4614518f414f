"""Objects without __add__ cannot be added."""


class Model:
    def __init__(self, x):
        self.x = x


def f(x):
    return (Model(x) + 1.0).x


ARGS = (2.0,)
