"""A nested generator."""


def f(x):
    def values():
        yield x

    return next(values())


ARGS = (2.0,)
