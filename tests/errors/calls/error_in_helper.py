"""An error in a helper names the line that calls it."""


def helper(p):
    return p.foo


def f(x):
    return helper(x) * 2.0


ARGS = (2.0,)
