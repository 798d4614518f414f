"""grad() by an int."""


def f(x):
    return x * x


ARGS = (3,)
API = "grad"
