"""A call passes a number of arguments that is known while compiling."""


def add(a, b):
    return a + b


def f(x):
    return add(*(x * i for i in range(1)), *(x * i for i in range(1)))


ARGS = (2.0,)
