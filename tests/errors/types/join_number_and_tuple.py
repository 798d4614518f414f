"""A name that is a number on one path and a tuple on the other."""


def f(x):
    if x > 0.0:
        y = x
    else:
        y = (x, x)
    return y * 2.0


ARGS = (2.0,)
