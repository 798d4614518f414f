"""`with` is not in the language."""


def f(x):
    with open("file") as stream:
        y = x
    return y


ARGS = (2.0,)
