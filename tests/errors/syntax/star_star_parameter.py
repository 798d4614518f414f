"""Keyword arguments are named."""


def f(x, **options):
    return x


ARGS = (2.0,)
