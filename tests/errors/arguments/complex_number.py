"""A complex number."""


def f(z):
    return z * z


ARGS = (1.0 + 2.0j,)
