"""grad() of a function that returns nothing."""


def f(x):
    y = x * x


ARGS = (2.0,)
API = "grad"
