"""A generator that compiled code has begun cannot go on in Python."""

source = None


def f(x):
    global source

    def values():
        yield x
        yield x * x

    source = values()
    return next(source)


ARGS = (2.0,)
