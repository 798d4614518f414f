"""An attribute that the class does not have."""


class Model:
    rate = 1.0


def f(x):
    return x * Model.rates


ARGS = (2.0,)
