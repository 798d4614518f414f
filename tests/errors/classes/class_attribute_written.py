"""A class is shared by everybody who sees it."""


class Model:
    rate = 1.0


def f(x):
    Model.rate = x
    return Model.rate


ARGS = (2.0,)
