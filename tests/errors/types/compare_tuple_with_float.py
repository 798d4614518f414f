"""An order between a tuple and a number."""


def f(x):
    return (x, x) < x


ARGS = (2.0,)
