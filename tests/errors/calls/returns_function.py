"""A function cannot leave compiled code yet."""


def f(x):
    return lambda y: x * y


ARGS = (2.0,)
