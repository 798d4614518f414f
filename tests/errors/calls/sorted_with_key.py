"""A builtin that is not known."""


def f(t):
    return sorted(t, key=lambda v: -v)[0]


ARGS = ((3.0, 1.0),)
