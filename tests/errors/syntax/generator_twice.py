"""A generator is used up by the first that steps through it."""


def f(x):
    values = (x * i for i in range(3))
    return sum(values) + sum(values)


ARGS = (2.0,)
