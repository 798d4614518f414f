"""Nothing can be printed yet."""


def f(x):
    print("x is", x)
    return x


ARGS = (2.0,)
