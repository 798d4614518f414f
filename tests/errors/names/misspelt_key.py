"""A misspelt key."""


def f(p):
    return p["wieght"]


ARGS = ({"weight": 1.0},)
