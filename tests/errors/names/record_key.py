"""A key that the dict does not have."""


def f(p):
    return p["a"] * p["c"]


ARGS = ({"a": 1.0, "b": 2.0},)
