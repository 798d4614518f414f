"""A class statement inside a compiled function."""


def f(x):
    class Model:
        pass

    return x


ARGS = (2.0,)
