"""A field that __slots__ does not name."""


class Model:
    __slots__ = ("x",)

    def __init__(self, x):
        self.x = x
        self.y = x


def f(x):
    return Model(x).y


ARGS = (2.0,)
