"""Comprehensions are not in the language yet."""


def f(x):
    ys = [x * i for i in range(3)]
    return ys[0]


ARGS = (2.0,)
