"""Python could not raise this either."""


def f(x):
    if x < 0.0:
        raise UnicodeDecodeError("utf-8")
    return x


ARGS = (2.0,)
