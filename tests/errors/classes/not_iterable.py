"""An object without __iter__."""


class Model:
    def __init__(self, x):
        self.x = x


def f(x):
    total = 0.0
    for item in Model(x):
        total += item
    return total


ARGS = (2.0,)
