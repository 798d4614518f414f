"""An exception keeps what it was made with."""


class Diverged(Exception):
    pass


def f(x):
    problem = Diverged("too large")
    problem.x = x
    if x > 1.0:
        raise problem
    return x


ARGS = (2.0,)
