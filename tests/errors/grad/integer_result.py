"""grad() of a function that returns an int."""


def f(x):
    return int(x)


ARGS = (2.0,)
API = "grad"
