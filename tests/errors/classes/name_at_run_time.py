"""Which attribute is read depends on run-time data."""


class Model:
    def __init__(self, x):
        self.a = x
        self.b = 2.0 * x


def f(x, name):
    return getattr(Model(x), name + "b"[:int(x)])


ARGS = (2.0, "")
