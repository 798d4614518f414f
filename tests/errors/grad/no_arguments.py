"""grad() of a function without arguments."""


def f():
    return 2.0


ARGS = ()
API = "grad"
