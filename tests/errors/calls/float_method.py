"""A method that floats have but compiled code has not."""


def f(x):
    return x.hex()


ARGS = (2.0,)
