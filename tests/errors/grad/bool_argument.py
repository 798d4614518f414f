"""grad() by a bool."""


def f(x, flag):
    return x if flag else -x


ARGS = (3.0, True)
API = "grad"
OPTIONS = {'argnums': 1}
