"""A helper gets too many arguments."""


def square(a):
    return a * a


def f(x):
    return square(x, x)


ARGS = (2.0,)
