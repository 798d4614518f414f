"""An exception that changes after Python has noted what it holds."""


class Diverged(Exception):
    def __init__(self, x):
        self.x = x


def f(x):
    try:
        raise Diverged(x)
    except Diverged as e:
        e.x = x + 1.0
        raise


ARGS = (2.0,)
