"""An object that pullback does not know."""


def f(x):
    return x


ARGS = (object(),)
