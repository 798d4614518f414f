"""A keyword of another age."""


def f(t):
    return sorted(t, cmp=lambda a, b: a - b)[0]


ARGS = ((3.0, 1.0),)
