"""A builtin that is not in the language."""


def f(x):
    return eval("x")


ARGS = (2.0,)
