"""An entry of a dict read like an attribute."""


def f(p):
    return p.weight


ARGS = ({"weight": 1.0},)
