"""A method that floats have but compiled code has not."""


def f(x):
    return x.is_integer()


ARGS = (2.0,)
