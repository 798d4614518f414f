"""A set."""


def f(s):
    return 1.0


ARGS = ({1.0, 2.0},)
