"""A tuple cannot grow."""


def f(xs):
    xs.append(1.0)
    return xs[0]


ARGS = ((1.0, 2.0),)
