"""Only exceptions are causes."""


def f(x):
    if x < 0.0:
        raise ValueError("negative") from x
    return x


ARGS = (2.0,)
