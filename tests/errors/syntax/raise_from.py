"""The cause of an exception cannot be attached."""


def f(x):
    if x < 0.0:
        raise ValueError("negative") from KeyError("sign")
    return x


ARGS = (2.0,)
