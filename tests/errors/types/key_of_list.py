"""A list is no key."""


def f(x):
    d = {}
    d[[1, 2]] = x
    return len(d)


ARGS = (2.0,)
