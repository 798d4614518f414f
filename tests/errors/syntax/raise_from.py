"""`raise ... from ...` is not in the language yet."""


def f(x):
    if x < 0.0:
        raise ValueError("negative") from None
    return x


ARGS = (2.0,)
