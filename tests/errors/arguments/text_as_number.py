"""Text where a number is meant."""


def f(x):
    return x * 2.0


ARGS = ("3.0",)
