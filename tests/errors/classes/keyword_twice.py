"""A keyword is given by name and by **."""


def scaled(x, scale=1.0):
    return x * scale


def f(x):
    options = {"scale": x}
    return scaled(x, scale=2.0, **options)


ARGS = (2.0,)
