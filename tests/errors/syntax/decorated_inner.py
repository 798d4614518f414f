"""A nested function cannot have a decorator."""


def twice(g):
    return g


def f(x):
    @twice
    def g(y):
        return y * x

    return g(x)


ARGS = (2.0,)
