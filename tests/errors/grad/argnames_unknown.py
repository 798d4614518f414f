"""argnames that no parameter has."""


def f(x):
    return x * x


ARGS = (2.0,)
API = "grad"
OPTIONS = {"argnames": "y"}
