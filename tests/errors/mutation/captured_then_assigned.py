"""A variable assigned after a closure captured it."""


def f(x):
    scale = 1.0
    g = lambda y: y * scale
    scale = x
    return g(x)


ARGS = (2.0,)
