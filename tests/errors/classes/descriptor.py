"""An attribute that is computed by an object with __get__."""


class Double:
    def __get__(self, instance, owner):
        return 2.0 * instance.x


class Model:
    double = Double()

    def __init__(self, x):
        self.x = x


def f(x):
    return Model(x).double


ARGS = (2.0,)
