"""A name that exists nowhere."""


def f(x):
    return x * undefined_scale


ARGS = (2.0,)
