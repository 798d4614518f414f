"""What changes has no hash."""


def f(x):
    return len(set(([x], [x])))


ARGS = (2.0,)
