"""has_aux without a pair."""


def f(x):
    return x * x


ARGS = (2.0,)
API = "grad"
OPTIONS = {"has_aux": True}
