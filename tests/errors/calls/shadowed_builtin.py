"""A local hides a builtin."""


def f(x):
    sum = x * x
    return sum((x, sum))


ARGS = (2.0,)
