"""A call passes a number of arguments that is known while compiling."""


def add(a, b):
    return a + b


def f(x):
    return add(*(x * i for i in range(2)))


ARGS = (2.0,)
