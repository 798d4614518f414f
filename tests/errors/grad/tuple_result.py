"""grad() of a function that returns a tuple."""


def f(x):
    return x, x * x


ARGS = (2.0,)
API = "grad"
