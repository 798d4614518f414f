"""A path without `return`."""


def f(x):
    if x > 0.0:
        return x * x


ARGS = (2.0,)
API = "grad"
