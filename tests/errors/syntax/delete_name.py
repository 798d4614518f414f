"""`del` is not in the language."""


def f(x):
    y = x * x
    del y
    return x


ARGS = (2.0,)
