"""Which key it is must be known."""


def f(p, i):
    return p[i]


ARGS = ({"a": 1.0}, 0)
