"""An index is an int."""


def f(x):
    xs = [x]
    xs.append(2.0)
    return xs[x]


ARGS = (1.0,)
