"""The separator of print is a string."""


def f(x):
    print("x is", x, sep=0)
    return x


ARGS = (2.0,)
