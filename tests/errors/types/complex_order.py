"""Complex numbers have no order."""


def f(z):
    return z if z < 1 else -z


ARGS = (1.0 + 2.0j,)
