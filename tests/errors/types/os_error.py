"""Python makes an exception of another class of these arguments."""


def f(x):
    if x < 0.0:
        raise OSError(2, "no such file")
    return x


ARGS = (2.0,)
