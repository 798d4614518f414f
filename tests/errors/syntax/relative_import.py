"""An import relative to a package."""


def f(x):
    from . import scale

    return scale * x


ARGS = (2.0,)
